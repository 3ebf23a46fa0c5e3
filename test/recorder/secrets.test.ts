import { stripVTControlCharacters } from 'node:util';
import { describe, expect } from 'vitest';
import { BLANK, blankSecrets } from '../../src/recorder/secrets/blank.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SECRETS } from './secret-samples.ts';

describe('secrets', () => {
  promiseTest('recorder/secrets', 'at least 20 kinds, anywhere in a text', () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(40);
    for (const { kind, text, secret } of SECRETS) {
      expect(text, kind).toContain(secret);
      for (const around of [text, `before ${text} after`, `a\n${text}\nb`, `x="${text.replaceAll('"', "'")}"`]) {
        expect(blankSecrets(around), `${kind}: ${around}`).not.toContain(secret);
        expect(blankSecrets(around), kind).toContain(BLANK);
      }
    }
  });

  promiseTest('recorder/secrets', 'inside JSON inside JSON', () => {
    for (const { kind, text, secret } of SECRETS) {
      let escaped = `line\n${text}\nnext`;
      for (let level = 0; level < 3; level += 1) {
        escaped = JSON.stringify(escaped);
        // What remains after undoing all escapes must not contain it either.
        const blanked = blankSecrets(escaped);
        expect(blanked, kind).not.toContain(secret);
        expect(blanked.replaceAll(/\\+n/g, '\n').replaceAll(/\\+/g, ''), kind).not.toContain(secret);
      }
    }
    expect(blankSecrets('password\\u003dhunter2 x')).toBe(`password\\u003d${BLANK} x`);
    expect(blankSecrets('\\u0067hp_0123456789abcdefghij0123 x')).toBe(`${BLANK} x`);
    expect(blankSecrets('https:\\/\\/me:hunter2@host\\/x')).toBe(`https:\\/\\/me:${BLANK}@host\\/x`);
  });

  promiseTest('recorder/secrets', 'between and across the colors of a terminal', () => {
    for (const { kind, text, secret } of SECRETS) {
      const marked = `${secret.slice(0, 4)}\u001b[m\u001b[K${secret.slice(4)}`;
      const colored = [
        `\u001b[1;31m${text}\u001b[0m`,
        `x\u001b(B\u001b[m${text}`,
        text.replaceAll(secret, () => marked),
      ];
      for (const around of [...colored, ...colored.map((line) => JSON.stringify(line))]) {
        const blanked = blankSecrets(around);
        const shown = stripVTControlCharacters(blanked.replaceAll('\\u001b', '\u001b'));
        expect(shown, `${kind}: ${JSON.stringify(around)}`).not.toContain(secret);
        expect(blanked, kind).toContain(BLANK);
      }
    }
    const ordinary = '\u001b[32m✓\u001b[39m passes\u001b[2m 12 ms\u001b[22m';
    expect(blankSecrets(ordinary)).toBe(ordinary);
  });

  promiseTest('recorder/secrets', 'what is around a secret stays', () => {
    expect(blankSecrets('PGPASSWORD=hunter2 npm test')).toBe(`PGPASSWORD=${BLANK} npm test`);
    expect(blankSecrets('curl -u me:hunter2 https://host/x')).toBe(`curl -u me:${BLANK} https://host/x`);
    expect(blankSecrets('git clone https://me:hunter2@host/x.git')).toBe(`git clone https://me:${BLANK}@host/x.git`);
    expect(blankSecrets('psql postgres://u:p@ss@host/db')).toBe(`psql postgres://u:${BLANK}@host/db`);
  });

  promiseTest('recorder/secrets', 'ordinary text stays as it is', () => {
    const ordinary = [
      'npm test -- --reporter=dot',
      '/me/project/src/token.ts:12:3',
      'const token: string = next();',
      '"input_tokens": 5000, "max_tokens": 12345',
      'PWD=/me/project',
      'http://registry.example:4873/@scope/package',
      'git@github.com:me/project.git',
      '58d498e1-6a77-4ca6-bf2d-5f306607c271',
      'C:\\new\\table\\users',
      'sk-short, ghp_short, eyJhbGci',
      'the basic idea, bearer of news',
      'pass the test',
      'tests pass: 12, pass: 12',
      'PASS: run.sh',
      'pass=12 fail=0',
      '# pass 12',
      '{"pass":true,"didPass": true, "passed": "all"}',
      'bypass: always',
      'mkdir -p dir/login; cp -pr a b',
      'mkdir -p /var/lib/mysql',
      'mysql -u root -p db',
      'docker run --name mysql -p3306:3306 x',
      'jest --passWithNoTests --pass-through',
      'require_auth: false, "auth": "none"',
      'npm config set registry https://registry.example',
      'git push -u https://host/x main',
      'git push -u origin main',
      'redis-cli -h db ping',
      'the login page takes -1',
      'openssl rsa -passin stdin',
      'FILE_PAT=src/**/*.ts, rnd_seed=4, vcp_count, figd_short',
      'https://discord.com/api/webhooks/123456789012345678',
      'release v1.0-0123456789abcdef, patches.0123456789abcdef',
      'step 1/2: 0123456789abcdef0123456789abcdef',
      'az storage --account-name me',
      '<key>name</key> <token>string</token> <passwordField />',
      'set -e; set -x GIT_EDITOR true; set -x; TOKEN_COUNT=5',
      "echo 'done' | cat; docker login --password-stdin < file",
      'unzip -o a.zip; grep -P pattern; ldapsearch -x -W; unzip a.zip && cp -P a b',
      'pul-request, nfp_count, tskey-short',
      '',
    ];
    for (const text of ordinary) expect(blankSecrets(text)).toBe(text);
  });

  promiseTest('recorder/secrets', 'text that is made to slow the search down', () => {
    for (const piece of SLOW) {
      const text = piece.repeat(Math.ceil(300_000 / piece.length));
      expect(blankSecrets(text).length, piece).toBeGreaterThan(0);
    }
  });
});

/** Beginnings of secrets without their ends. */
const SLOW =
  `eyJ|eyJaaaaaaaa.|eyJaaaaaaaa.eyJ|://|://a:|://a:b@|password|password=|token:"|sk-|-----BEGIN PRIVATE KEY-----|
-----BEGIN |A| |\\|\\u|\\\\n|login a |Bearer |-u a:|SG.aaaaaaaaaaaaaaaa.|Maaaaaaaaaaaaaaaaaaaaaaaa.aaaaaa.|12345678:AA|
authorization: a |sshpass -p |login |login -|mysql |mysql -p|config |config set a|redis-cli | -u|
 -ua:|_PAT=|1/1234567890123456/|dp.pt.|discord.com/api/webhooks/1|v1.0-| -u'a:|_pass|_pass=|pass=|"auth":"|_auth=|storepass |-passin pass:|\u001b[|
\u001b[1|\u001b[0m|\u001b |\u001b[meyJ|
<password>|<password|set -x TOKEN |set -x |echo |echo a --password-stdin |unzip |unzip -P|ldapsearch a -w`
    .replaceAll('\n', '')
    .split('|');
