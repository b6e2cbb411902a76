import type { World } from './world.ts';

/** One kind of expensive request: who can send it, and its most expensive form within the limits. */
export type Input = {
  name: string;
  sender: 'stranger' | 'API key' | 'viewer' | 'editor' | 'recipient' | 'mail server';
  /** How long `GET /livez` may take while thirty of these requests run. */
  livezMaxMs: number;
  /** At least one request must get one of these statuses. Otherwise the attack did not reach its target. */
  expectedStatuses: number[];
  /** Statuses that the other requests may get because their queue is full. Every other status is a finding. */
  mayGet?: number[];
  /** Prepares the installation, once for all requests of this input. */
  prepare?(world: World): Promise<void>;
  /** Sends one request and returns the status. */
  send(world: World): Promise<number>;
  /** Resolves when the work behind the responses is done, and returns what went wrong in it. */
  settle?(world: World): Promise<string[]>;
};

export const MIB = 1024 * 1024;
export const LIVEZ_MAX_MS = 250;
export const BESIDE_TEMPLATES_MS = 100;
export const JSON_TYPE = { 'content-type': 'application/json' };
/** The queue of the sender's project is full. */
export const BUSY = [503];

/** Finds statuses that an input may not get, and inputs that never arrived. */
export function checkStatuses(
  { expectedStatuses, mayGet = [] }: Pick<Input, 'expectedStatuses' | 'mayGet'>,
  statuses: ReadonlyMap<number, number>,
): string[] {
  const allowed = new Set([...expectedStatuses, ...mayGet]);
  const unexpected = [...statuses].filter(([status]) => !allowed.has(status));
  const isReached = expectedStatuses.some((status) => statuses.has(status));
  return [
    ...unexpected.map(([status, times]) =>
      status === 0 ? `${times} requests get no answer` : `${times} requests are answered ${status}`,
    ),
    ...(isReached
      ? []
      : [`no request is answered ${expectedStatuses.join(' or ')}: the attack did not arrive`]),
  ];
}
