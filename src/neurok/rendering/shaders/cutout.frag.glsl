// Depth of surfaces with holes: what is less opaque than the cutoff casts no shadow.
uniform float opacity;
uniform float cutoff;
in vec4 v_color;

void main() {
    float seen = opacity * v_color.a;
#ifdef MAP_BASE_COLOR
    seen *= texture(base_color_map, BASE_COLOR_AT).a;
#endif
    if (seen < cutoff) discard;
}
