uniform vec3 light;
uniform float opacity;
in vec3 v_normal;
in vec3 v_color;
out vec4 out_color;

void main() {
    float lit = 0.72 + 0.33 * dot(normalize(v_normal), normalize(light));
    out_color = vec4(v_color * lit, 1.0) * opacity;
}
