// Files that are dropped anywhere on the window go to the button that opens files.
(() => {
  const named = (role, name) =>
    [...document.querySelectorAll(role)].find((one) => one.textContent.trim() === name);

  const give = (files) => {
    const input = named("button", "Open a file ...")?.parentElement.querySelector("input[type=file]");
    if (!input) return false;
    input.files = files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  };

  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    const kept = new DataTransfer(); // the event's own list is emptied when it is over
    kept.items.add(event.dataTransfer.files[0]);
    if (give(kept.files)) return;
    named("[role=tab]", "Open")?.click();
    setTimeout(() => give(kept.files), 500); // when the tab has been drawn
  });
})();
