uniform mat4 clip_from_world;
uniform vec3 ground_area;
uniform float ground_height;
in vec2 in_position;
out vec2 v_at;

void main() {
    v_at = in_position * 0.5 + 0.5;
    vec2 at = in_position * ground_area.z + ground_area.xy;
    gl_Position = clip_from_world * vec4(at.x, ground_height, at.y, 1.0);
}
