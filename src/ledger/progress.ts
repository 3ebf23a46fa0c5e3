export type Progress = (done: number, total: number) => void;

/** For work that may have to start over: nobody wants to hear a second time how far it was. */
export function onlyForward(progress: Progress): Progress {
  let most = -1;
  return (done, total) => {
    if (done <= most) return;
    most = done;
    progress(done, total);
  };
}
