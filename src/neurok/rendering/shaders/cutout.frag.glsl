// Depth of surfaces with holes: what is less than half opaque casts no shadow.
uniform float opacity;
uniform bool has_texture;
uniform sampler2D base_texture;
in vec2 v_uv;
in vec4 v_color;

void main() {
    float seen = opacity * v_color.a;
    if (has_texture) seen *= texture(base_texture, v_uv).a;
    if (seen < 0.5) discard;
}
