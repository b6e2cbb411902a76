import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { NewId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Keyring, KeyUse, VerifiedKey } from '../features/keys/index.ts';
import type { RequestLog } from '../features/stream/index.ts';
import type { WarningCounter } from '../features/warnings/index.ts';
import type { Accept } from '../flows/accept/index.ts';
import type { Counter } from '../io/counter/index.ts';
import type { AddressGuard } from './address-guard.ts';
import type { HeaderList } from './answer.ts';
import type { BodyShares } from './body.ts';
import type { TransportRules } from './transport.ts';

/** What the HTTP floor is handed once, at start. */
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
  /** How far the clock of a sandbox is ahead of that one. */
  aheadOf: (projectId: number) => Promise<number>;
  newId: NewId;
  log: Log;
  transport: TransportRules;
  /** Counts an answer, by endpoint and status. */
  answered: (endpoint: string, status: number, code?: string | null) => void;
};

/** One request on its way through the floor. */
export type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  id: string;
  /** Headers gathered on the way, for whatever answer it will be. */
  headers: HeaderList;
  key: VerifiedKey | null;
  /** The key was asked of the database after this request arrived, so even a refusal may rest on it. */
  keyIsFresh: boolean;
};
