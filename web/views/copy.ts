import { button } from '../dom.ts';

/** Copies a text. The button says what happened. */
export function copyButton(text: () => string, label = 'Copy'): HTMLButtonElement {
  const made = button(
    label,
    () => {
      navigator.clipboard.writeText(text()).then(
        () => tell('Copied'),
        () => tell('Select the text to copy it'),
      );
    },
    { class: 'quiet' },
  );
  const tell = (word: string) => {
    made.textContent = word;
    setTimeout(() => {
      made.textContent = label;
    }, 2000);
  };
  return made;
}
