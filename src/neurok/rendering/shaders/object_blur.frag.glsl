const float EDGE = 0.04;  // of the object's radius
// Averages the 4x4 pattern away, along one direction at a time, without crossing edges.
uniform sampler2D light_map;
uniform vec2 step_size;
in vec2 v_at;
out vec4 out_light;

void main() {
    vec4 here = textureLod(light_map, v_at, 0.0);
    vec3 sum = vec3(0.0);
    for (int i = -2; i < 2; i++) {
        vec4 there = textureLod(light_map, v_at + step_size * float(i), 0.0);
        float weight = 1e-4 + max(0.0, 1.0 - abs(there.b - here.b) / EDGE);
        sum += vec3(there.rg, 1.0) * weight;
    }
    out_light = vec4(sum.rg / sum.b, here.b, 1.0);
}
