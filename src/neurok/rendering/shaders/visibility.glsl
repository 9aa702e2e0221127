// What light reaches a point: the key light through a shadow map, the sky through small depth maps of the object seen
// from SKY_COUNT directions, tiled into one atlas. The world is scaled so that the object's sphere has radius 1.
// Few samples are taken, turned by a pattern that repeats every 4x4 pixels; a blur of that width makes them smooth.
uniform sampler2D key_map;
uniform sampler2D sky_map;
uniform mat4 key_from_world;
uniform vec3 sky_right[SKY_COUNT];
uniform vec3 sky_up[SKY_COUNT];
uniform vec3 sky_toward[SKY_COUNT];

const float SKY_TEXEL = 2.0 / float(SKY_SIZE);

float pattern() {
    ivec2 at = ivec2(gl_FragCoord.xy) & 3;
    int index = at.x + 4 * at.y;
    return float((index * 7) & 15) / 16.0;
}

mat2 turned(float share) {
    float c = cos(6.283185 * share), s = sin(6.283185 * share);
    return mat2(c, s, -s, c);
}

// Constant once the loop around it is unrolled.
vec2 spiral(float i, float count) {
    return sqrt((i + 0.5) / count) * vec2(cos(2.399963 * i), sin(2.399963 * i));
}

// Each sky direction stands for a cone: the sample is shifted sideways, by more than the map's own steps.
// Blockers farther away than `reach` do not count.
float sky_seen(int k, vec3 position, vec2 shift, float reach) {
    vec3 local = vec3(dot(sky_right[k], position), dot(sky_up[k], position), -dot(sky_toward[k], position));
    vec2 at = (local.xy + shift) * 0.5 + 0.5;
    if (any(greaterThan(abs(at - 0.5), vec2(0.5 - SKY_TEXEL)))) return 1.0;
    vec2 tile = vec2(float(k % SKY_COLUMNS), float(k / SKY_COLUMNS));
    vec2 grid = vec2(float(SKY_COLUMNS), float(SKY_COUNT / SKY_COLUMNS));
    float surface = textureLod(sky_map, (tile + at) / grid, 0.0).r * 2.0 - 1.0;
    float gap = min(local.z, 1.0) - surface;  // an empty map holds 1
    return max(smoothstep(0.5, 1.5, 2.0 - gap / SKY_TEXEL), smoothstep(0.2 * reach, reach, gap));
}

float key_seen(vec3 local, vec2 shift) {
    vec2 at = local.xy + shift;
    return max(step(min(local.z, 1.0), textureLod(key_map, at, 0.0).r), float(any(greaterThan(abs(at - 0.5), vec2(0.499)))));
}
