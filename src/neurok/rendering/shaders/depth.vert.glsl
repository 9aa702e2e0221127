uniform mat4 clip_from_world;
in vec3 in_position;

void main() {
    gl_Position = clip_from_world * vec4(in_position, 1.0);
}
