import { connectionsOf } from '../io/db/index.ts';
import type { Config, Role } from './config.ts';
import type { Counts } from './merged-counts.ts';

/** One process of several: what it does, and which of its kind it is. */
export type Part = { role: Role; number: number };

/** What this machine runs. Mail comes in at one door, however many answer requests. */
export function partsOf({ roles, processes }: Pick<Config, 'roles' | 'processes'>): Part[] {
  const count = (role: Role): number => (role === 'mail-in' ? 1 : processes[role]);
  return [...roles].flatMap((role) =>
    Array.from({ length: count(role) }, (_, index) => ({ role, number: index + 1 })),
  );
}

/** One of each kind share a process, and nothing has to be watched over. */
export function isOneProcess({ roles, processes }: Pick<Config, 'roles' | 'processes'>): boolean {
  return [...roles].every((role) => role === 'mail-in' || processes[role] === 1);
}

/** As many as all processes of this machine may open at once. */
export function connectionsNeeded(config: Pick<Config, 'roles' | 'processes'>): number {
  const parts = isOneProcess(config) ? [config.roles] : partsOf(config).map(({ role }) => new Set([role]));
  return parts.map(connectionsOf).reduce((sum, { pooled, direct }) => sum + pooled + direct, 0);
}

export function nameOf({ role, number }: Part): string {
  return `${role} ${number}`;
}

/** What a process is told by whoever watches over it. */
export type ToPart =
  | { kind: 'stop' }
  /** The files of the certificate are others. */
  | { kind: 'reload' }
  | { kind: 'count'; id: number }
  | { kind: 'text'; id: number; text: string };

/** And what it says. */
export type FromPart =
  | { kind: 'ready' }
  | { kind: 'failed'; message: string }
  | { kind: 'counted'; id: number; counts: Counts }
  /** It was asked what all of them counted. */
  | { kind: 'asked'; id: number };
