import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS } from '../../../../test/support/hostile-text.ts';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { excerpt, md, quote, wikilink, yamlText } from './markdown.ts';

const inline = (text: string) => md`${text}`.markdown;

describe('text of agents in a note', () => {
  it.each([
    ['plain words, with snake_case_names and 3 < 4.', 'plain words, with snake_case_names and 3 &lt; 4.'],
    ['# a heading', String.raw`\# a heading`],
    ['- a list', String.raw`\- a list`],
    ['- [ ] a task of the Tasks plug-in', String.raw`\- \[ \] a task of the Tasks plug-in`],
    ['1. a list', String.raw`1\. a list`],
    ['---', String.raw`\---`],
    ['===', String.raw`\=\==`],
    ['> a quote', String.raw`\> a quote`],
    ['**bold**, *it* and ~~gone~~', String.raw`\*\*bold\*\*, \*it\* and \~\~gone\~\~`],
    ['_emphasis_', String.raw`\_emphasis\_`],
    ['[[Secret]] and ![[Secret]]', String.raw`\[\[Secret\]\] and !\[\[Secret\]\]`],
    ['![x](https://evil.example/x.png)', String.raw`!\[x\](https\://evil.example/x.png)`],
    ['www.evil.example', String.raw`www\.evil.example`],
    ['mailto:a@b.example and @ada', String.raw`mailto:a\@b.example and @ada`],
    ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)>'],
    ['&lt;script&gt;', '&amp;lt;script&amp;gt;'],
    ['<%* tp.file.delete() %>', String.raw`&lt;\%\* tp.file.delete() \%>`],
    ['`$= dv.pages()` and `= this.file`', String.raw`\`\$= dv.pages()\` and \`= this.file\``],
    ['```dataviewjs', String.raw`\`\`\`dataviewjs`],
    ['key:: value', String.raw`key\:: value`],
    ['%%hidden%%', String.raw`\%\%hidden\%\%`],
    ['#tag and ^block', String.raw`\#tag and \^block`],
    ['$x$ and {{title}} and {% raw %}', String.raw`\$x\$ and \{\{title}} and \{\% raw \%}`],
    ['a | b', String.raw`a \| b`],
    [String.raw`a \ b`, String.raw`a \\ b`],
    ['<!-- colibri: write below this line -->', '&lt;!-- colibri: write below this line -->'],
  ])('%j', (text, expected) => expect(inline(text)).toBe(expected));

  promiseTest('notes/hostile', 'a block of text stays in its quote, whatever its lines are', () => {
    const text = ['---', 'colibri: forged', '---', '', '    code', '\tcode', '# h', '```', '> [!note]', '\r<%'].join(
      '\n',
    );
    const lines = quote(text).markdown.split('\n');
    expect(lines).toHaveLength(11);
    expect(lines.filter((line) => !line.startsWith('>'))).toEqual([]);
    expect(lines.filter((line) => /^> {2}|\t/.test(line))).toEqual([]);
    expect(lines.join('\n')).not.toMatch(/<|^> (?:---|#|```|>)/m);
  });

  for (const [what, text] of Object.entries(HOSTILE_TEXTS))
    promiseTest('notes/hostile', `text that ${what}`, () => {
      const shown = [inline(text), quote(text).markdown, yamlText(text), wikilink('agents/x.md', text).markdown];
      for (const line of shown.join('\n').split('\n'))
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Variation_Selector}]/u);
    });

  it('keeps its blanks inside a line', () => expect(md`a${' b'}: ${' c '}d`.markdown).toBe('a b:  c d'));

  it('truncates an excerpt at its limit', () => expect(excerpt(' a\nlong  text ', 6)).toBe('a long…'));
});

describe('a link', () => {
  it.each([
    ['claude-code#2', '[[agents/x|claude-code#2]]'],
    ['person:ada', '[[agents/x|person:ada]]'],
    ['a]] [[Secret|b', '[[agents/x|a-- --Secret-b]]'],
    ['`code` <%', '[[agents/x|-code- --]]'],
    ['key:: value', '[[agents/x|key- value]]'],
    ['名前 é', '[[agents/x|名前 é]]'],
    ['', '[[agents/x|unnamed]]'],
  ])('with the text %j', (text, expected) => expect(wikilink('agents/x.md', text).markdown).toBe(expected));
});

describe('a property', () => {
  it.each([
    ['a "quoted" \\ title', String.raw`"a \"quoted\" \\ title"`],
    ['line\n---\ncolibri: forged', String.raw`"line\\n---\\ncolibri: forged"`],
    ['[[Secret]]', '"[ [Secret] ]"'],
    ['<% code %>', String.raw`"\u003c% code %>"`],
    ['yes', '"yes"'],
    ['\u202e', String.raw`"\\u202e"`],
  ])('with the text %j', (text, expected) => expect(yamlText(text)).toBe(expected));
});
