in vec2 in_position;
out vec2 v_at;

void main() {
    v_at = in_position * 0.5 + 0.5;
    gl_Position = vec4(in_position, 1.0, 1.0);
}
