uniform vec3 eye;
uniform vec3 key_toward;
uniform vec3 fill_toward;
uniform vec3 rim_toward;
uniform vec4 base_color;
uniform vec3 emissive;
uniform float metallic;
uniform float roughness;
uniform float clear;  // share of light that passes, as through glass
uniform float alpha_cutoff;
uniform bool blend;
#ifdef MAP_METALLIC_ROUGHNESS
uniform sampler2D metallic_roughness_map;
#endif
#ifdef MAP_NORMAL
uniform sampler2D normal_map;
uniform float normal_strength;
#endif
#ifdef MAP_OCCLUSION
uniform sampler2D occlusion_map;
uniform float occlusion_strength;
#endif
#ifdef MAP_EMISSIVE
uniform sampler2D emissive_map;
#endif
#ifdef CLEARCOAT
uniform float coat;
uniform float coat_roughness;
#endif
#ifdef SHEEN
uniform vec3 sheen;
uniform float sheen_roughness;
#endif
uniform float dielectric;
uniform sampler2D ground_map;
uniform vec3 ground_area;  // centre x, centre z, half width
uniform sampler2D light_map;
uniform vec2 canvas_size;

in vec3 v_position;
in vec3 v_normal;
in vec4 v_color;
out vec4 out_color;

const float EXPOSURE = 1.04;
const vec3 KEY_LIGHT = vec3(2.40, 2.30, 2.14);
const vec3 FILL_LIGHT = vec3(0.30, 0.34, 0.40);
const vec3 RIM_LIGHT = vec3(0.55, 0.58, 0.62);
const vec3 SKY_LIGHT = vec3(0.68, 0.71, 0.76);
const vec3 BOUNCE_LIGHT = vec3(0.45, 0.43, 0.41);

// The light found at lower resolution, taken from those neighbours that lie at the same distance.
vec2 light_here(float distance) {
    vec2 size = vec2(textureSize(light_map, 0));
    vec2 at = gl_FragCoord.xy / canvas_size * size - 0.5;
    vec2 corner = floor(at), part = at - corner;
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 4; i++) {
        vec2 side = vec2(float(i & 1), float(i >> 1));
        vec3 there = textureLod(light_map, (corner + side + 0.5) / size, 0.0).rgb;
        vec2 near = mix(1.0 - part, part, side);
        float weight = (near.x * near.y + 1e-3) / (1e-3 + abs(there.b - distance));
        sum += vec3(there.rg, 1.0) * weight;
    }
    return sum.rg / sum.b;
}

vec3 surroundings(vec3 direction, float blur) {
    float up = smoothstep(-0.15 - blur, 0.15 + blur, direction.y);
    vec3 room = mix(BOUNCE_LIGHT, SKY_LIGHT * 0.9, up);
    float panel = smoothstep(0.80 - 0.5 * blur, 0.93 + 0.07 * blur, dot(direction, key_toward));
    float strip = smoothstep(0.70 - 0.4 * blur, 0.95, dot(direction, fill_toward));
    return room + (panel * 2.2 + strip * 0.7) * (1.0 - 0.75 * blur);
}

// Light thrown back by a surface: scattered from within (matt) and mirrored at its skin (gloss).
vec3 matt = vec3(0.0), gloss = vec3(0.0);

void add_light(vec3 light, vec3 toward, vec3 n, vec3 v, vec3 diffuse, vec3 f0, float alpha) {
    float nl = max(dot(n, toward), 0.0);
    vec3 h = normalize(toward + v);
    float nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0), nv = max(dot(n, v), 1e-3);
    float a2 = alpha * alpha;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float k = alpha * 0.5;
    float shape = a2 / (3.14159 * d * d) * 0.25 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    float graze = 1.0 - vh, square = graze * graze;
    vec3 fresnel = f0 + (1.0 - f0) * (square * square * graze);
    matt += light * nl * diffuse;
    gloss += light * nl * fresnel * min(shape, 8.0);
}

// The split-sum term of the surroundings' mirror image, as a polynomial fit.
vec3 mirror_share(vec3 f0, float rough, float nv) {
    vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    return f0 * (-1.04 * a + r.z) + 1.04 * a + r.w;
}

// Share of light that a velvet throws back (Charlie's distribution, integrated), fitted within 0.1.
#ifdef SHEEN
float fuzz(float rough, float nv) {
    float slope = -10.265 + 19.721 * rough - 11.431 * rough * rough;
    return exp(slope * nv + 0.391 - 1.939 * rough + 1.313 * rough * rough) + 0.047 * rough * rough;
}
#endif

// Compresses highlights only, so that base colours keep their hue.
vec3 tonemap(vec3 c) {
    float start = 0.76, peak = max(c.r, max(c.g, c.b));
    if (peak < start) return c;
    float d = 1.0 - start;
    float squeezed = 1.0 - d * d / (peak + d - start);
    c *= squeezed / peak;
    float g = 1.0 - 1.0 / (0.15 * (peak - squeezed) + 1.0);
    return mix(c, vec3(squeezed), g);
}

// The sRGB curve within half a level, out of square roots.
vec3 to_srgb(vec3 c) {
    vec3 half_power = sqrt(max(c, 0.0)), quarter = sqrt(half_power), eighth = sqrt(quarter);
    return 0.662002687 * half_power + 0.684122060 * quarter - 0.323583601 * eighth - 0.0225411470 * c;
}

// Turns a normal by a picture; its axes follow from how the texture coordinates change over the screen.
#ifdef MAP_NORMAL
vec3 bent(vec3 n, vec2 at) {
    vec3 mapped = texture(normal_map, at).xyz * 2.0 - 1.0;
    vec3 px = dFdx(v_position), py = dFdy(v_position);
    vec2 ux = dFdx(at), uy = dFdy(at);
    vec3 across = cross(py, n), along = cross(n, px);
    vec3 t = across * ux.x + along * uy.x, b = across * ux.y + along * uy.y;
    float size = max(dot(t, t), dot(b, b));
    if (!(size > 0.0)) return n;
    mapped.xy *= normal_strength * inversesqrt(size);
    return normalize(t * mapped.x + b * mapped.y + n * mapped.z);
}
#endif

void main() {
    vec4 base = base_color * v_color;
#ifdef MAP_BASE_COLOR
    base *= texture(base_color_map, BASE_COLOR_AT);
#endif
    if (base.a < alpha_cutoff) discard;
#ifdef UNLIT
    float seen = blend ? base.a : 1.0;
    out_color = vec4(to_srgb(base.rgb) * seen, seen);
    return;
#endif

    vec3 v = normalize(eye - v_position);
    vec3 n = normalize(v_normal) * (gl_FrontFacing ? 1.0 : -1.0);
    vec3 g = cross(dFdx(v_position), dFdy(v_position));
    g = dot(g, g) > 0.0 ? normalize(g) * (dot(g, v) < 0.0 ? -1.0 : 1.0) : n;
    if (!(dot(n, n) > 0.5)) n = g;
    vec3 skin = n;  // of a clear coat, which lies smoothly over what is below
#ifdef MAP_NORMAL
    n = bent(n, NORMAL_AT);
#endif
    float metal = metallic, rough = roughness, hollow = 1.0;
#ifdef MAP_METALLIC_ROUGHNESS
    vec4 surface = texture(metallic_roughness_map, METALLIC_ROUGHNESS_AT);
    metal *= surface.b;
    rough = max(rough * surface.g, 0.04);
#endif
#ifdef MAP_OCCLUSION
    hollow = mix(1.0, texture(occlusion_map, OCCLUSION_AT).r, occlusion_strength);
#endif
    vec3 glow = emissive;
#ifdef MAP_EMISSIVE
    glow *= texture(emissive_map, EMISSIVE_AT).rgb;
#endif

    vec2 ground_at = (v_position.xz - ground_area.xy) / ground_area.z * 0.5 + 0.5;
    float below = textureLod(ground_map, ground_at, 0.0).g;
    vec2 light = blend ? vec2(1.0) : light_here(length(v_position - eye));
    float key = light.r, open = light.g * hollow;

    vec3 diffuse = base.rgb * (1.0 - metal);
    vec3 f0 = mix(vec3(dielectric), base.rgb, metal);
    float alpha = max(rough * rough, 0.02);
    float nv = max(dot(n, v), 1e-3);
    // Glass passes light of its colour, less where it is seen from the side and the way through it is long.
    vec3 passed = pow(base.rgb, vec3(1.0 / max(nv, 0.2)));
    base.a *= 1.0 - clear * dot(passed, vec3(0.2126, 0.7152, 0.0722));
    diffuse *= 1.0 - clear;

    float down = 0.5 - 0.5 * n.y;
    vec3 ambient = mix(SKY_LIGHT * (0.25 + 0.75 * open) * open, BOUNCE_LIGHT * mix(below * below, 1.0, 0.25), down);
    matt += diffuse * ambient;
    float shine = mix(open, 1.0, 0.3) * mix(1.0, below, down);
    gloss += surroundings(reflect(-v, n), rough) * mirror_share(f0, rough, nv) * shine;
    add_light(KEY_LIGHT * key, key_toward, n, v, diffuse * 0.45, f0 * 0.6, alpha);
    matt += diffuse * FILL_LIGHT * (0.6 * (0.4 + 0.6 * open) * max(dot(n, fill_toward), 0.0));
    add_light(RIM_LIGHT * open, rim_toward, n, v, diffuse * 0.5, f0 * 0.5, max(alpha, 0.2));
#ifdef SHEEN
    float nap = fuzz(sheen_roughness, nv);
    vec3 reaches = ambient + KEY_LIGHT * (0.45 * key * max(dot(n, key_toward), 0.0));
    matt = matt * (1.0 - max(sheen.r, max(sheen.g, sheen.b)) * nap) + sheen * nap * reaches;
#endif
#ifdef CLEARCOAT
    vec3 film = mirror_share(vec3(0.04), coat_roughness, max(dot(skin, v), 1e-3)) * coat;
    matt *= 1.0 - film;
    gloss = gloss * (1.0 - film) + surroundings(reflect(-v, skin), coat_roughness) * film * shine;
    add_light(KEY_LIGHT * key * coat, key_toward, skin, v, vec3(0.0), vec3(0.04), max(coat_roughness * coat_roughness, 0.02));
#endif
    // Reflections on glass do not fade with its opacity.
    float opacity = blend ? clamp(base.a + dot(gloss, vec3(0.333)), 0.0, 1.0) : 1.0;
    vec3 color = (matt + glow) * (blend ? base.a / opacity : 1.0) + gloss / opacity;
    out_color = vec4(to_srgb(tonemap(color * EXPOSURE)) * opacity, opacity);
}
