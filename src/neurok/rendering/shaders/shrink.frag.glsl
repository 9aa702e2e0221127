uniform sampler2D picture;
in vec2 v_at;
out vec4 out_color;

void main() {
    out_color = texture(picture, v_at);
}
