/**
 * Runs in the page: every text that is shown, with a contrast below what WCAG 2.2 AA asks for (4.5, large text 3).
 * Colors are composed from the backgrounds of all ancestors.
 */
export const FIND_LOW_CONTRAST = `(() => {
  const parse = (color) => {
    const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const backgroundOf = (element) => {
    const own = element === null ? { r: 255, g: 255, b: 255, a: 1 } : parse(getComputedStyle(element).backgroundColor);
    return own.a === 1 ? own : over(own, backgroundOf(element.parentElement));
  };
  const luminance = ({ r, g, b }) => {
    const [R, G, B] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const low = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue;
    if (!element.checkVisibility() || element.closest('.visually-hidden, legend, .skip') !== null) continue;
    seen += 1;
    const style = getComputedStyle(element);
    const below = backgroundOf(element);
    const [one, two] = [luminance(over(parse(style.color), below)), luminance(below)];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) low.push(node.data.trim().slice(0, 40) + ' ' + ratio.toFixed(2));
  }
  return { low, seen };
})()`;
