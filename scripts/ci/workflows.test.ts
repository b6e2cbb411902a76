import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync('.github/workflows/*.yml', { cwd: ROOT }).toSorted();

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Returns the values of `key: value` and `- key: value` in a workflow. */
function valuesOf(file: string, key: string): string[] {
  return [...read(file).matchAll(new RegExp(`^[ -]*${key}: (.+)$`, 'gm'))].map(([, value = '']) => value);
}

function listOf(file: string, key: string): string[] {
  const [list = ''] = valuesOf(file, key);
  return list.replaceAll(/[[\]]/g, '').split(', ');
}

describe.each(FILES)('%s', (file) => {
  test('pins each action by its commit and names its version', () => {
    const actions = valuesOf(file, 'uses');
    expect(actions).not.toEqual([]);
    for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('may only read the repository, and stores no credentials', () => {
    expect(read(file)).toMatch(/^permissions:\n {2}contents: read\n(?! )/m);
    expect(read(file).match(/^ +permissions:/gm)).toBeNull();
    expect(valuesOf(file, 'persist-credentials')).toEqual(['false']);
  });

  test('runs the pinned Node.js and one script, which exists', () => {
    expect(valuesOf(file, 'node-version-file')).toEqual(['.nvmrc']);
    const [command = '', ...others] = valuesOf(file, 'run');
    expect(others).toEqual([]);
    const scripts = listOf(file, 'job').map((job) => command.replace('${{ matrix.job }}', job));
    for (const script of scripts) {
      const [program = '', argument = ''] = script.split(' ');
      if (program === 'node') accessSync(join(ROOT, argument), constants.R_OK);
      else accessSync(join(ROOT, program), constants.X_OK);
    }
  });
});

describe('ci.yml', () => {
  test('has the jobs of .ci/run', () => {
    const jobs = listOf('.github/workflows/ci.yml', 'job').toSorted();
    const run = read('.ci/run');
    expect([...run.matchAll(/^\.ci\/(\w+)/gm)].map(([, job = '']) => job).toSorted()).toEqual(jobs);
    expect(/^summarize (.*)$/m.exec(run)?.[1]?.split(' ').toSorted()).toEqual(jobs);
  });
});

describe('proof.yml', () => {
  test('has every proof', () => {
    const { stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/proof.ts'), '--list'], {
      encoding: 'utf8',
    });
    const proofs = [...stdout.matchAll(/^(\w+):/gm)].map(([, name]) => name);
    expect(proofs.length).toBeGreaterThan(5);
    expect(listOf('.github/workflows/proof.yml', 'proof')).toEqual(proofs);
  });
});

test('.nvmrc is the Node.js of the platform packages', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as {
    optionalDependencies: Record<string, string>;
  };
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([read('.nvmrc').trim()]));
});
