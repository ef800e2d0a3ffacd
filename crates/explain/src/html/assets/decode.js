// The page that takes bytes: text and files go to the server that the page is from, no further.

function startDecode() {
  const form = document.getElementById("decode");
  if (!form) return;
  const result = document.getElementById("result");
  const picked = form.querySelector("input[type=file]");
  form.querySelector(".file").hidden = false;
  let latest = 0;

  const send = async (body, name) => {
    const turn = ++latest;
    const query = new URLSearchParams(new FormData(form));
    query.delete("text");
    query.set("part", "result");
    if (name !== undefined) query.set("name", name);
    result.setAttribute("aria-busy", "true");
    let html;
    try {
      const headers = name === undefined ? {} : { "content-type": "application/octet-stream" };
      const options = { method: "POST", body, headers };
      const response = await fetch(`decode.html?${query}`, options);
      html = await response.text();
    } catch {
      html = null;
    }
    if (turn !== latest) return;
    result.removeAttribute("aria-busy");
    if (html === null) {
      result.textContent = "The server did not answer: see whether klamm explain --serve still runs.";
    } else {
      result.innerHTML = html; // Escaped by the server, which made it.
      startMessages(result);
    }
    result.scrollIntoView({ block: "nearest" });
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(new URLSearchParams({ text: form.elements.text.value }));
  });
  const sendFile = (file) => file && send(file, file.name);
  picked.addEventListener("change", () => sendFile(picked.files[0]));
  const isFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    form.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    form.classList.remove("over");
    sendFile(event.dataTransfer.files[0]);
  });
}
