uniform sampler2D ground_map;
uniform vec2 step_size;
in vec2 v_at;
out vec4 out_light;

void main() {
    vec4 sum = texture(ground_map, v_at) * 0.294;
    sum += (texture(ground_map, v_at + step_size) + texture(ground_map, v_at - step_size)) * 0.235;
    sum += (texture(ground_map, v_at + 2.0 * step_size) + texture(ground_map, v_at - 2.0 * step_size)) * 0.118;
    out_light = sum;
}
