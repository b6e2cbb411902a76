import type { ErrorEntry } from '@beckon/contract';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accept } from '../accept/accept.ts';
import type { KeyUse } from '../keys/key-use.ts';
import type { VerifiedKey } from '../keys/key.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { WarningCounter } from '../warnings/warnings.ts';
import type { NotedRequest, RequestLog } from '../activity/request-log.ts';
import type { AddressGuard } from '../../../platform/http/address-guard.ts';
import type { HeaderList } from '../../../platform/http/answers.ts';
import type { BodyShares } from '../../../platform/http/body.ts';
import type { TransportRules } from '../../../platform/http/transport.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import type { Counter } from '../../../platform/rate-limits/counter.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** The dependencies of the HTTP layer, set once at start. */
export type HttpDeps = {
  accept: Accept;
  keyring: Keyring;
  keyUse: KeyUse;
  warnings: WarningCounter;
  requests: RequestLog;
  counter: Counter;
  guard: AddressGuard;
  bodies: BodyShares;
  clock: Clock;
  /** Returns how far the clock of a sandbox is ahead of `clock`. */
  aheadOf: (projectId: number) => Promise<number>;
  newId: NewId;
  log: Log;
  transport: TransportRules;
  /** Counts a response, by endpoint and status. */
  countResponse: (endpoint: string, status: number, code?: string | null) => void;
};

/** One request on its way through the HTTP layer. */
export type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  id: string;
  /** Headers collected for the response, whatever it is. */
  headers: HeaderList;
  key: VerifiedKey | null;
  /** The key was read from the database after this request arrived, so even a refusal may rest on it. */
  keyIsFresh: boolean;
};

/** The content of the project's request log beside the status. */
export type Tally = Pick<NotedRequest, 'code' | 'accepted' | 'rejected' | 'bytes' | 'faults' | 'aheadMs'> & {
  startedAt: number;
};

/** Returns the log entry of a refused request: no record of it is stored. */
export function refusalOf(errors: ErrorEntry[]): Pick<Tally, 'code' | 'accepted' | 'rejected' | 'faults'> {
  const code = errors[0]?.code ?? null;
  const none = { code, accepted: 0, rejected: 0 };
  return code === 'validation_failed' ? { ...none, faults: errors } : none;
}
