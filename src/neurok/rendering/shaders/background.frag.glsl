uniform vec3 top_color;
uniform vec3 bottom_color;
in vec2 v_at;
out vec4 out_color;

void main() {
    float t = smoothstep(0.0, 1.0, v_at.y);
    vec2 off = v_at - vec2(0.5, 0.45);
    vec3 color = mix(bottom_color, top_color, t) - 0.035 * smoothstep(0.15, 0.75, dot(off, off) * 1.6);
    // Half a level of fixed noise hides the steps of the gradient.
    float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    out_color = vec4(color + grain / 255.0, 1.0);
}
