import { formatSessionId, formatTaskId, parseId } from '../../ids.ts';
import { shortTime } from '../views/terminal.ts';
import { agentPath, dayPath, sessionPath, taskPath } from './vault/file-names.ts';
import { joinMarkdown, type Markdown, md, wikilink } from './vault/markdown.ts';

export const taskLink = (taskNo: number): Markdown => wikilink(taskPath(taskNo), formatTaskId(taskNo));
export const sessionLink = (sessionNo: number): Markdown =>
  wikilink(sessionPath(sessionNo), formatSessionId(sessionNo));
export const agentLink = (name: string): Markdown => wikilink(agentPath(name), name);
export const dayLink = (day: string): Markdown => wikilink(dayPath(day), day);

/** For ids that a record holds as text. */
export const linkOfTask = (taskId: string): Markdown => taskLink(parseId(taskId));

/** Notes are the same on every machine, so their times are in UTC. */
export const time = (iso: string): Markdown => md`${shortTime(iso)}`;

/** In the note of a day. */
export const clock = (iso: string): Markdown => md`${iso.slice(11, 19)}`;

export function listItems(items: readonly Markdown[]): Markdown {
  return joinMarkdown(
    items.map((item) => md`- ${item}`),
    '\n',
  );
}

/** A heading with its blocks; nothing without blocks. */
export function section(title: string, blocks: readonly Markdown[]): Markdown[] {
  return blocks.length === 0 ? [] : [md`## ${title}`, ...blocks];
}

/** A note with more links is hard to read. */
export const MAX_LINKS = 500;

export function agentLinks(names: Iterable<string>): Markdown {
  const links = [...names].map(agentLink);
  return linkList(links.slice(0, MAX_LINKS), links.length);
}

/** "A, B and 5 more" */
export function linkList(links: readonly Markdown[], total: number): Markdown {
  const shown = joinMarkdown(links, ', ');
  return total > links.length ? md`${shown} and ${(total - links.length).toLocaleString('en')} more` : shown;
}
