// The search runs in a Web Worker, which browsers refuse to pages that are opened as files (file://). There, and only
// there, this runs the worker's script in a hidden frame instead. Material for MkDocs does the same with a script of
// this name that it fetches from a server; the page's search looks for the name IFrameWorker.
if (location.protocol === "file:")
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inner = this.frame.contentWindow;
      // The script speaks to its creator by postMessage() and loads others by importScripts().
      inner.postMessage = (data) => this.tell("message", { data });
      inner.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
      this.ready = this.load(url);
    }
    load(url) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = failed;
        this.frame.contentDocument.head.appendChild(script);
      });
    }
    tell(kind, what) {
      const event = new MessageEvent(kind, what);
      this.dispatchEvent(event);
      if (this["on" + kind]) this["on" + kind](event);
    }
    postMessage(data) {
      const inner = this.frame.contentWindow;
      this.ready.then(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
