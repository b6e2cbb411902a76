import Type from 'typebox';
import { FILTER, PAGE, item, list, raw } from './envelope.ts';
import type { DOMAIN_STATES } from './lists.ts';

export type DnsRecord = {
  kind: 'dkim' | 'return_path_mx' | 'return_path_spf' | 'dmarc';
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  /** The value in parts of at most 255 characters, for providers that require them. */
  split: string[] | null;
  required: boolean;
  status: 'ok' | 'missing' | 'wrong' | 'unknown' | 'unchecked';
  found: string[];
  message: string | null;
  warning: boolean;
  key_state: string | null;
};

export type SendingDomain = {
  id: string;
  name: string;
  state: (typeof DOMAIN_STATES)[number];
  /** Emails can be sent from the domain now. */
  can_send: boolean;
  records: DnsRecord[];
  throttle: string;
  warm: boolean;
  warmup_from: string | null;
  tracking: {
    host: string;
    state: 'pending' | 'working' | 'failed';
    found: string | null;
    checked_at: string | null;
    next_check_at: string;
    /** The required target of the CNAME record of the host. */
    cname_target: string;
  } | null;
  paused_at: string | null;
  paused_reason: string | null;
  created_at: string;
  verified_at: string | null;
  checked_at: string | null;
  next_check_at: string | null;
};

const Speed = { throttle: Type.Optional(Type.String()), warm: Type.Optional(Type.Boolean()) };

/** `:domain` is the name of the domain. */
export const DOMAINS_API = {
  /** Without `limit`: all of them. */
  'GET /projects/:project/domains': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<SendingDomain>(),
  },
  'GET /projects/:project/domains.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  'POST /projects/:project/domains': {
    body: Type.Object({ name: Type.String(), ...Speed }),
    response: item<SendingDomain>(),
  },
  'GET /projects/:project/domains/:domain': { response: item<SendingDomain>() },
  'PATCH /projects/:project/domains/:domain': {
    body: Type.Object(Speed),
    response: item<SendingDomain>(),
  },
  /** `name` must be the name of the domain. Its keys are deleted, and emails from it are held. */
  'DELETE /projects/:project/domains/:domain': {
    body: Type.Object({ name: Type.String() }),
    response: item<{ name: string }>(),
  },
  /** Checks the DNS records now. */
  'POST /projects/:project/domains/:domain/check': { response: item<SendingDomain>() },
  /** Starts a rotation of the DKIM key. The new key signs once its record was found. */
  'POST /projects/:project/domains/:domain/rotate': { response: item<SendingDomain>() },
  'POST /projects/:project/domains/:domain/pause': {
    body: Type.Object({
      reason: Type.Optional(Type.String({ maxLength: 200, pattern: '^\\P{Cc}*$' })),
    }),
    response: item<SendingDomain>(),
  },
  'POST /projects/:project/domains/:domain/resume': {
    response: item<SendingDomain & { retried: number }>(),
  },
  /** Null: links in emails of the domain use the installation's own address again. */
  'PUT /projects/:project/domains/:domain/tracking': {
    body: Type.Object({ host: Type.Union([Type.String(), Type.Null()]) }),
    response: item<SendingDomain>(),
  },
};
