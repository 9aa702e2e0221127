// Where each picture is looked up: at the mesh's own coordinates, or at stored ones after the picture's own transform.
in vec2 v_uv;
in vec4 v_stored;
vec2 placed(vec3 rows[2], int uv_set) {
    vec3 at = vec3(uv_set == 0 ? v_stored.xy : v_stored.zw, 1.0);
    return vec2(dot(rows[0], at), dot(rows[1], at));
}
#ifdef MAP_BASE_COLOR
uniform sampler2D base_color_map;
#endif
#ifdef PLACED_BASE_COLOR
uniform vec3 base_color_rows[2];
uniform int base_color_set;
#define BASE_COLOR_AT placed(base_color_rows, base_color_set)
#else
#define BASE_COLOR_AT v_uv
#endif
#ifdef PLACED_METALLIC_ROUGHNESS
uniform vec3 metallic_roughness_rows[2];
uniform int metallic_roughness_set;
#define METALLIC_ROUGHNESS_AT placed(metallic_roughness_rows, metallic_roughness_set)
#else
#define METALLIC_ROUGHNESS_AT v_uv
#endif
#ifdef PLACED_NORMAL
uniform vec3 normal_rows[2];
uniform int normal_set;
#define NORMAL_AT placed(normal_rows, normal_set)
#else
#define NORMAL_AT v_uv
#endif
#ifdef PLACED_OCCLUSION
uniform vec3 occlusion_rows[2];
uniform int occlusion_set;
#define OCCLUSION_AT placed(occlusion_rows, occlusion_set)
#else
#define OCCLUSION_AT v_uv
#endif
#ifdef PLACED_EMISSIVE
uniform vec3 emissive_rows[2];
uniform int emissive_set;
#define EMISSIVE_AT placed(emissive_rows, emissive_set)
#else
#define EMISSIVE_AT v_uv
#endif
