"""Motion seen from outside: an object is rendered from several directions, and an image network says what moves."""
