import { connectionsOf } from '../platform/db/connections.ts';
import type { Config, Role } from './config.ts';
import type { ProcessMetrics } from './merged-counts.ts';

/** One of several processes: its role, and its number within that role. */
export type ProcessRef = { role: Role; number: number };

/** Returns the processes of this machine. One of them receives mail, however many answer requests. */
export function partsOf({ roles, processes }: Pick<Config, 'roles' | 'processes'>): ProcessRef[] {
  const count = (role: Role): number => (role === 'mail-in' ? 1 : processes[role]);
  return [...roles].flatMap((role) =>
    Array.from({ length: count(role) }, (_, index) => ({ role, number: index + 1 })),
  );
}

/** Returns true if there is one of each kind: they share a process, and need no supervisor. */
export function isSingleProcess({ roles, processes }: Pick<Config, 'roles' | 'processes'>): boolean {
  return [...roles].every((role) => role === 'mail-in' || processes[role] === 1);
}

/** Returns how many connections all processes of this machine may open at once. */
export function connectionsNeeded(config: Pick<Config, 'roles' | 'processes'>): number {
  const parts = isSingleProcess(config) ? [config.roles] : partsOf(config).map(({ role }) => new Set([role]));
  return parts.map(connectionsOf).reduce((sum, { pooled, direct }) => sum + pooled + direct, 0);
}

export function nameOf({ role, number }: ProcessRef): string {
  return `${role} ${number}`;
}

/** Messages from the supervisor to a process. */
export type SupervisorMessage =
  | { kind: 'stop' }
  /** The certificate files have changed. */
  | { kind: 'reload' }
  | { kind: 'count'; id: number }
  | { kind: 'text'; id: number; text: string };

/** Messages from a process to the supervisor. */
export type ProcessMessage =
  | { kind: 'ready' }
  | { kind: 'failed'; message: string }
  | { kind: 'counted'; id: number; counts: ProcessMetrics }
  /** A request for the counts of all processes. */
  | { kind: 'counts_requested'; id: number };
