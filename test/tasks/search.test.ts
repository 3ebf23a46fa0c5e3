import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { serverForAll, type TestServer, withServer } from '../support/test-server.ts';

const TASKS: readonly (readonly [title: string, description: string])[] = [
  ['Fix the login page', 'The "remember me" box is ignored. See AUTH-17.'],
  ['Write the release notes', 'List what users notice; NOT what we refactored AND why.'],
  ['Поиск по словам', 'Индекс должен находить начало слова'],
  ['設計書を読む', '日本語の説明。全文検索。'],
  ['修复登录页面', '搜索 中文 文本'],
  ['Crème brûlée for the team 🚀', 'naïve façade; 100% done 🇩🇪'],
  ['Robert"); DROP TABLE tasks;--', "O'Reilly's OR 1=1"],
  ['queue up the quick jobs', 'NEAR the end: words*words ^start -minus title:colon {a b}'],
  ['한국어 검색', 'login_flow.test.ts'],
];

async function fill(server: TestServer): Promise<void> {
  for (const [title, description] of TASKS) await server.createTask({ title, description });
}

/** The numbers of the tasks found, oldest first. */
async function find(server: TestServer, search: string): Promise<number[]> {
  const { tasks, total_count } = await server.listTasks({ search, sort_by: 'created', sort_order: 'asc' });
  expect(total_count).toBe(tasks.length);
  return tasks.map(({ task_id }) => Number(task_id.slice(2)));
}

const ALL = TASKS.map((_, index) => index + 1);

describe('searching for', () => {
  const server = serverForAll(fill);
  const cases: Readonly<Record<string, readonly number[]>> = {
    '': ALL,
    login: [1, 9],
    LOGIN: [1, 9],
    log: [1, 9],
    ogin: [],
    'the login': [1],
    'login the page': [1],
    'login nowhere': [],
    '"remember me"': [1],
    '"': [],
    '""': [],
    'auth-17': [1],
    AUTH17: [],
    login_flow: [9],
    'login_flow.test.ts': [9],
    NOT: [2],
    AND: [2],
    OR: [7],
    NEAR: [8],
    'NOT login': [],
    'login OR release': [],
    'NEAR(end words, 3)': [],
    'NEAR(the end)': [8],
    'log*': [1, 9],
    '*': [],
    '^fix': [1],
    'words*words': [8],
    'title:colon': [8],
    'colon:title': [8],
    '-minus': [8],
    '{a b}': [1, 8],
    '(login': [1, 9],
    ')))': [],
    'words : login': [],
    поиск: [3],
    'СЛОВ нач': [3],
    u: [2, 8],
    q: [8],
    u43: [],
    q43: [],
    qu: [8],
    設計: [4],
    計設: [],
    検索: [4],
    全文検索: [4],
    登录: [5],
    '登录 文本': [5],
    한국: [9],
    creme: [6],
    'CRÈME BRÛLÉE': [6],
    'cre\u0300me': [6],
    facade: [6],
    ｌｏｇｉｎ: [1, 9],
    '🚀': [6],
    '🇩🇪': [6],
    '🇫🇷': [],
    '🚀🚀': [6],
    '👩‍💻': [],
    '100%': [6],
    '%': [],
    _: [],
    "'": [],
    "' OR 1=1 --": [7],
    "'; DELETE FROM tasks; --": [],
    'DROP TABLE tasks': [7],
    $1: [1, 6, 7],
    '\\': [],
    '!?…—': [],
    '\n': [],
    '   ': [],
  };
  for (const [search, numbers] of Object.entries(cases)) {
    promiseTest('tasks/search', `${JSON.stringify(search)} finds ${numbers.join(', ') || 'nothing'}`, () =>
      expect(find(server(), search)).resolves.toEqual(numbers),
    );
  }

  for (const unit of ['x', 'y ', 'y"', 'ж', '設', '☀', '🚀 y', '\ufdfa', '\u337f', '\u0301', '"', "'", '*', '(', '^']) {
    promiseTest('tasks/search', `${JSON.stringify(unit)}, repeated to the length limit, finds nothing`, async () => {
      const search = unit.repeat(256 / unit.length);
      expect(await find(server(), search)).toEqual([]);
    });
  }

  promiseTest('tasks/search', 'a repeated word finds the same tasks as one', async () => {
    expect(await find(server(), 'NOT '.repeat(64))).toEqual([2]);
  });
});

describe('a changed task', () => {
  promiseTest('tasks/search', 'a changed task is found by its new words and not by its old ones', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'alpha beta', description: 'gamma' });
      await server.createTask({ title: 'beta', description: 'gamma' });
      await server.updateTask({ task_id: 'T-0001', title: 'delta' });
      expect(await find(server, 'alpha')).toEqual([]);
      expect(await find(server, 'beta')).toEqual([2]);
      expect(await find(server, 'delta gamma')).toEqual([1]);
      await server.updateTask({ task_id: 'T-0001', description: 'epsilon' });
      expect(await find(server, 'gamma')).toEqual([2]);
      expect(await find(server, 'epsilon')).toEqual([1]);
      await server.updateTask({ task_id: 'T-0001', description: '', priority: 'high' });
      expect(await find(server, 'epsilon')).toEqual([]);
      expect(await find(server, 'delta')).toEqual([1]);
      await server.refusal('task_update', { task_id: 'T-0001', title: 'zeta', depends_on: ['T-0001'] });
      expect(await find(server, 'zeta')).toEqual([]);
    }),
  );

  it('a task is found in every status', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'cancelled work' });
      await server.updateTask({ task_id: 'T-0001', status: 'cancelled' });
      expect(await find(server, 'work')).toEqual([1]);
    }));
});
