uniform mat4 clip_from_world;
in vec3 in_position;
in vec3 in_normal;
in vec3 in_color;
out vec3 v_normal;
out vec3 v_color;

void main() {
    v_normal = in_normal;
    v_color = in_color;
    gl_Position = clip_from_world * vec4(in_position, 1.0);
}
