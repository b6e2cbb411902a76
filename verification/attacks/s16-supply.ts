import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attack, Finding } from './attack.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

type Locked = {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  hasInstallScript?: boolean;
};
export type Lock = { lockfileVersion: number; packages: Record<string, Locked> };
export type Manifest = {
  name?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  allowScripts?: Record<string, boolean>;
};

export const s16: Attack = {
  id: 'S16',
  title: 'supply chain: the lockfile, its checksums, its sources, and install scripts',
  passLine:
    'every package is locked by its checksum; none from git or plain http; only listed install scripts run; versions are exact',
  quick: true,
  async run(target) {
    const lock = readJson<Lock>('package-lock.json');
    const root = readJson<Manifest>('package.json');
    const folders = ['', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)];
    const manifests = folders.filter((folder) => existsSync(join(ROOT, folder, 'package.json')));
    target.count('packages in the lockfile', Object.keys(lock.packages).length);
    const findings = checkLock(lock, root.allowScripts ?? {});
    for (const folder of manifests) {
      const manifest = readJson<Manifest>(join(folder, 'package.json'));
      target.count('own dependencies', Object.keys(allOf(manifest)).length);
      findings.push(...checkManifest(folder, manifest, lock));
    }
    const npmrc = readFileSync(join(ROOT, '.npmrc'), 'utf8');
    if (!/^save-exact=true$/m.test(npmrc))
      findings.push({ severity: 'low', title: '.npmrc does not keep versions exact' });
    target.note(
      'known vulnerabilities were not asked for, because that needs the network: run npm audit by hand',
    );
    return findings;
  },
};

export function checkLock({ lockfileVersion, packages }: Lock, allowed: Record<string, boolean>): Finding[] {
  const findings: Finding[] = [];
  if (lockfileVersion < 3)
    findings.push({ severity: 'medium', title: `a lockfile of version ${lockfileVersion}` });
  for (const [path, entry] of Object.entries(packages)) {
    const at = path.lastIndexOf('node_modules/');
    // The workspaces themselves, and links to them.
    if (at < 0 || entry.link === true) continue;
    const name = path.slice(at + 'node_modules/'.length);
    if (!(entry.integrity ?? '').startsWith('sha512-'))
      findings.push({ severity: 'high', title: `${name} is locked by no SHA-512` });
    if (entry.resolved !== undefined && !entry.resolved.startsWith('https://'))
      findings.push({ severity: 'high', title: `${name} comes from ${entry.resolved}` });
    if (entry.hasInstallScript === true && allowed[name] === undefined)
      findings.push({
        severity: 'high',
        title: `${name} runs a script when it is installed, and is not on the list of allowed packages`,
      });
  }
  return findings;
}

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

export function checkManifest(folder: string, manifest: Manifest, { packages }: Lock): Finding[] {
  const inside = folder === '' ? '' : `${folder}/`;
  return Object.entries(allOf(manifest)).flatMap(([name, range]): Finding[] => {
    const locked = packages[`${inside}node_modules/${name}`] ?? packages[`node_modules/${name}`];
    // One of our own workspaces.
    if (locked?.link === true) return [];
    const version = /^npm:.*@([^@]+)$/.exec(range)?.[1] ?? range;
    if (!EXACT.test(version))
      return [
        {
          severity: 'medium',
          title: `${name} ${range} is no exact version`,
          evidence: `${inside}package.json`,
        },
      ];
    if (locked?.version === version) return [];
    return [{ severity: 'high', title: `${name} ${version} is locked as ${locked?.version ?? 'nothing'}` }];
  });
}

function allOf({ dependencies, devDependencies, optionalDependencies }: Manifest): Record<string, string> {
  return { ...dependencies, ...devDependencies, ...optionalDependencies };
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
}
