uniform mat4 clip_from_world;
in vec3 in_position;
in vec3 in_normal;
in vec2 in_uv;
in vec4 in_stored;
in vec4 in_color;
out vec3 v_position;
out vec3 v_normal;
out vec2 v_uv;
out vec4 v_stored;
out vec4 v_color;

void main() {
    v_position = in_position;
    v_normal = in_normal;
    v_uv = in_uv;
    v_stored = in_stored;
    v_color = in_color;
    gl_Position = clip_from_world * vec4(in_position, 1.0);
}
