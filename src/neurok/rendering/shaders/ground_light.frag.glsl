// Light on the ground around the object: key light (red), sky (green). The penumbra widens with the distance to what
// blocks the light.
uniform vec3 ground_area;
uniform float ground_height;
uniform vec3 key_toward;
in vec2 v_at;
out vec4 out_light;

const float LAMP = 0.11;  // half width of the lamp by its distance

void main() {
    vec2 at = (v_at * 2.0 - 1.0) * ground_area.z + ground_area.xy;
    vec3 position = vec3(at.x, ground_height, at.y);
    vec3 local = (key_from_world * vec4(position + key_toward * 0.006, 1.0)).xyz * 0.5 + 0.5;
    mat2 turn = turned(pattern());
    float depth_unit = length(vec3(key_from_world[0][2], key_from_world[1][2], key_from_world[2][2])) * 0.5;
    float width_unit = length(vec3(key_from_world[0][0], key_from_world[1][0], key_from_world[2][0])) * 0.5;

    float gap = 0.0, blockers = 0.0;
    for (int i = 0; i < 8; i++) {
        vec2 there = local.xy + 0.10 * width_unit * (turn * spiral(float(i), 8.0));
        float nearest = textureLod(key_map, clamp(there, 0.0, 1.0), 0.0).r;
        if (nearest < min(local.z, 1.0)) {
            gap += (local.z - nearest) / depth_unit;
            blockers += 1.0;
        }
    }
    gap = blockers > 0.0 ? gap / blockers : 0.0;
    float radius = clamp(gap * LAMP, 0.012, 0.16) * width_unit;
    float key = 0.0;
    for (int i = 0; i < KEY_TAPS; i++) key += key_seen(local, radius * (turn * spiral(float(i), float(KEY_TAPS))));

    float open = 1.0;
#if WITH_SKY
    float seen = 0.0, total = 0.0;
    for (int k = 0; k < SKY_COUNT; k++) {
        float weight = sky_toward[k].y;
        total += weight;
        for (int i = 0; i < 2; i++) {
            vec2 shift = turn * spiral(float(2 * k + i), 2.0 * float(SKY_COUNT)) * 14.0 * SKY_TEXEL;
            seen += 0.5 * weight * sky_seen(k, position + vec3(0.0, SKY_TEXEL, 0.0), shift, 0.8);
        }
    }
    open = seen / total;
#endif
    out_light = vec4(key / float(KEY_TAPS), open, 0.0, 1.0);
}
