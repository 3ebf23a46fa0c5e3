// Renders terminal output as SVG in a fixed grid; supports the few escape codes that Colibri writes.

const CHARACTER_WIDTH = 8;
const LINE_HEIGHT = 18;
const MARGIN = 20;
const TITLE_BAR = 34;

const COLORS = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
  90: '#8b949e',
};

export function drawTerminal(lines, columns) {
  const width = columns * CHARACTER_WIDTH + 2 * MARGIN;
  const height = lines.length * LINE_HEIGHT + TITLE_BAR + MARGIN;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, index) => `<circle cx="${MARGIN + 6 + index * 20}" cy="18" r="6" fill="${color}"/>`,
  );
  const rows = lines.map((line, row) => drawLine(line, TITLE_BAR + row * LINE_HEIGHT)).filter((row) => row !== '');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The board of Colibri in a terminal">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}.b{font-weight:700}.d{opacity:.62}</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
${dots.join('')}
${rows.join('\n')}
</svg>
`;
}

function drawLine(line, top) {
  let column = 0;
  let style = { color: undefined, bold: false, dim: false };
  let drawn = '';
  for (const part of line.split(/(\p{Cc}\[\d+m)/u)) {
    const code = part.startsWith('\u001b') ? Number(part.slice(2, -1)) : undefined;
    if (code !== undefined) {
      style = apply(style, code);
      continue;
    }
    for (const word of part.split(/(\s{2,})/)) {
      if (word.trim() !== '') drawn += drawText(word, column, top, style);
      column += widthOf(word);
    }
  }
  return drawn;
}

function apply(style, code) {
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  return { ...style, color: COLORS[code] };
}

/** Lines and bars are drawn as shapes, because fonts leave gaps between them. */
function drawText(text, column, top, { color, bold, dim }) {
  const x = MARGIN + column * CHARACTER_WIDTH;
  const fill = color === undefined ? '' : ` fill="${color}"`;
  const shown = text.trimEnd();
  if (/^─+$/.test(shown)) {
    return `<rect x="${x}" y="${top + LINE_HEIGHT / 2}" width="${shown.length * CHARACTER_WIDTH}" height="1.5"${fill} opacity=".6"/>`;
  }
  if (shown === '▌') return `<rect x="${x}" y="${top}" width="4" height="${LINE_HEIGHT}"${fill}/>`;
  const names = [bold ? 'b' : '', dim ? 'd' : ''].join(' ').trim();
  const classes = names === '' ? '' : ` class="${names}"`;
  const style = color === undefined ? '' : ` style="fill:${color}"`;
  const length = widthOf(shown) * CHARACTER_WIDTH;
  return `<text x="${x}" y="${top + 13}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${classes}${style}>${escapeXml(shown)}</text>`;
}

/** Good enough for the picture: treats every character beyond European scripts as wide. */
function widthOf(text) {
  let width = 0;
  for (const character of text) width += /[\u3000-\u9fff\uff00-\uff60\u{1f000}-\u{1ffff}]/u.test(character) ? 2 : 1;
  return width;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
