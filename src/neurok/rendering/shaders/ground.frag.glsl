// The ground shows only through the light it lacks, so that it melts into any background.
uniform sampler2D ground_map;
in vec2 v_at;
out vec4 out_color;

void main() {
    vec2 light = texture(ground_map, v_at).rg;
    float reaches = 0.52 * light.r + 0.48 * light.g * light.g;
    float edge = length(v_at * 2.0 - 1.0);
    float dark = (1.0 - pow(reaches, 0.75)) * 0.82 * (1.0 - smoothstep(0.75, 0.98, edge));
    out_color = vec4(vec3(0.10, 0.11, 0.14) * dark, dark);
}
