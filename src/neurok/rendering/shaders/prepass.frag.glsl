// Shading normal (two numbers), face normal (packed into one) and distance; holes are cut out.
uniform vec3 eye;
uniform float opacity;
uniform float cutoff;
in vec3 v_position;
in vec3 v_normal;
in vec4 v_color;
out vec4 out_surface;

vec2 fold(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    vec2 back = (1.0 - abs(n.yx)) * vec2(n.x < 0.0 ? -1.0 : 1.0, n.y < 0.0 ? -1.0 : 1.0);
    return n.z < 0.0 ? back : n.xy;
}

void main() {
#ifdef MAP_BASE_COLOR
    if (opacity * v_color.a * texture(base_color_map, BASE_COLOR_AT).a < cutoff) discard;
#endif
    vec3 v = eye - v_position;
    vec3 g = cross(dFdx(v_position), dFdy(v_position));
    g = dot(g, v) < 0.0 ? -g : g;
    g = dot(g, g) > 0.0 ? normalize(g) : normalize(v);
    vec3 n = v_normal * (gl_FrontFacing ? 1.0 : -1.0);
    n = dot(n, n) > 0.25 ? normalize(n) : g;
    vec2 steps = floor((fold(g) * 0.5 + 0.5) * 4095.0 + 0.5);
    out_surface = vec4(fold(n), steps.x * 4096.0 + steps.y, length(v));
}
