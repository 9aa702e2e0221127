// Key light (red) and sky (green) at each pixel of the object, with its distance (blue) for filters that stop at edges.
uniform sampler2D surface_map;
uniform mat4 world_from_clip;
uniform vec3 eye;
uniform vec3 key_toward;
uniform float key_radius;
uniform float key_texel;
in vec2 v_at;
out vec4 out_light;

vec3 unfold(vec2 f) {
    vec3 n = vec3(f, 1.0 - abs(f.x) - abs(f.y));
    float t = max(-n.z, 0.0);
    n.xy -= vec2(n.x < 0.0 ? -t : t, n.y < 0.0 ? -t : t);
    return normalize(n);
}

void main() {
    vec4 surface = textureLod(surface_map, v_at, 0.0);
    vec4 far = world_from_clip * vec4(v_at * 2.0 - 1.0, 1.0, 1.0);
    vec3 position = eye + normalize(far.xyz / far.w - eye) * surface.w;
    vec3 n = unfold(surface.xy);
    float high = floor(surface.z / 4096.0);
    vec3 g = unfold(vec2(high, surface.z - high * 4096.0) / 4095.0 * 2.0 - 1.0);
    float share = pattern();
    mat2 turn = turned(share);

    float key = 0.0;
    float facing = dot(g, key_toward);
    if (dot(n, key_toward) > 0.0) {
        // Lift the point off its own surface by the width of the filter, or a flat panel would shade itself.
        float width = key_radius + 1.5 * key_texel;
        vec3 lifted = position + g * (width * sqrt(max(1.0 - facing * facing, 0.0))) + key_toward * (1.5 * key_texel);
        vec3 local = (key_from_world * vec4(lifted, 1.0)).xyz * 0.5 + 0.5;
        float radius = key_radius * 0.5 * length(vec3(key_from_world[0][0], key_from_world[1][0], key_from_world[2][0]));
        for (int i = 0; i < KEY_TAPS; i++) key += key_seen(local, radius * (turn * spiral(float(i), float(KEY_TAPS))));
        key /= float(KEY_TAPS);
    }

    float open = 1.0;
#if WITH_SKY
    float seen = 0.0, total = 1e-4;
    float spread = 6.0 * SKY_TEXEL;
    vec2 shift = spread * sqrt(fract(share * 5.0 + 0.31)) * turn[0];
    for (int k = 0; k < SKY_COUNT; k++) {
        float weight = dot(n, sky_toward[k]);
        float face = dot(g, sky_toward[k]);
        if (weight <= 0.0) continue;
        vec3 lifted = position + g * ((spread + SKY_TEXEL) * sqrt(max(1.0 - face * face, 0.0)) + SKY_TEXEL * 0.5);
        total += weight;
        seen += weight * sky_seen(k, lifted, shift, 3.0);
    }
    open = mix(0.6, seen / total, smoothstep(0.0, 0.08 * float(SKY_COUNT), total));
#endif
    out_light = vec4(key, open, surface.w, 1.0);
}
