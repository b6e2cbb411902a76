import Type from 'typebox';
import { item, list } from './envelope.ts';

/** A setting of a relay, as the form and the command line ask for it. */
export type RelayField = {
  name: string;
  label: string;
  /** Encrypted, and never shown again. */
  secret: boolean;
  required: boolean;
  hint: string | null;
  /** The only values, the first of which is the default. */
  values: string[] | null;
};

export type RelayKindInfo = {
  kind: string;
  title: string;
  fields: RelayField[];
};

/** What set-up needs to know before the first relay. */
export type RelaySetup = {
  kinds: RelayKindInfo[];
  /**
   * The host of `SMTP_URL`, and the kind of its provider if it is known. `feedback_relay`: the relay with the feedback of this provider, if it
   * was added. Null: emails go to the test inbox.
   */
  smtp_url: { host: string; kind: string | null; feedback_relay: string | null } | null;
  /** The caller may set up relays of the whole installation. */
  operator: boolean;
  /** A demo or sandbox project, whose emails never leave the installation. */
  inside: boolean;
};

export type Relay = {
  id: string;
  kind: string;
  /** The name of the provider. */
  title: string;
  name: string;
  owner: 'project' | 'installation';
  /** Its settings without secrets. Empty for relays of the installation, which only an operator may read. */
  settings: Record<string, string>;
  /** `failing`: a worker paused it. `untested`: there was no test since its settings changed. */
  state: 'working' | 'untested' | 'test_failed' | 'failing';
  /** Why it fails, or why its last test failed. */
  failure: string | null;
  failing_since: string | null;
  checked_at: string | null;
  /** It sends the emails of all domains of this project that have no relay of their own. */
  used_by_project: boolean;
  used_by_domains: string[];
  /** It sends the emails of all projects without a relay of their own. */
  used_by_installation: boolean;
  /** When an outcome of an email was first reported through it. */
  feedback_proven_at: string | null;
  created_at: string;
  changed_at: string;
};

export type RelayTest = { ok: boolean; message: string; field: string | null; relay: Relay };

export type RelayRecord = {
  type: 'CNAME' | 'TXT' | 'MX';
  name: string;
  value: string;
  purpose: 'dkim' | 'return_path' | 'spf' | 'tracking' | 'verification';
  status: 'ok' | 'missing' | 'wrong' | 'unknown';
  found: string[];
};

export type RelayRecords = {
  domain: string;
  records: RelayRecord[];
  /** The provider, if it sends with a return path of its own, so that SPF of the domain needs no include. */
  own_return_path: string | null;
  /** Where the provider shows its records. */
  guide_url: string | null;
  /** False if the provider wants more records than these. */
  complete: boolean;
  /** Why the provider returned no records. */
  failure: string | null;
};

const Name = Type.String({ minLength: 1, maxLength: 80, pattern: '^\\P{Cc}*$' });
const Values = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 10_000 }));

/** `:relay` is the id of a relay of the project or of the installation. */
export const RELAYS_API = {
  'GET /projects/:project/relay-setup': { response: item<RelaySetup>() },
  /** The relays of the project and of the installation. */
  'GET /projects/:project/relays': { response: list<Relay>() },
  'POST /projects/:project/relays': {
    body: Type.Object({
      kind: Type.String({ maxLength: 40 }),
      name: Name,
      settings: Values,
      /** For all projects of the installation. Only an operator may set it. */
      installation: Type.Optional(Type.Boolean()),
    }),
    response: item<Relay>(),
  },
  'GET /projects/:project/relays/:relay': { response: item<Relay>() },
  /** Changes the given settings. Secrets that are left out stay, and an empty value removes an optional one. */
  'PATCH /projects/:project/relays/:relay': {
    body: Type.Object({ name: Type.Optional(Name), settings: Type.Optional(Values) }),
    response: item<Relay>(),
  },
  /** `name` must be the name of the relay, which must not be in use. */
  'DELETE /projects/:project/relays/:relay': {
    body: Type.Object({ name: Type.String() }),
    response: item<{ name: string }>(),
  },
  /** Signs in to the relay, and sends nothing. */
  'POST /projects/:project/relays/:relay/test': { response: item<RelayTest>() },
  /**
   * Uses a relay for emails that are not claimed yet: of a domain, or without one of the whole project. `relay` null: the relay that would
   * be used otherwise. `installation`: for all projects without a relay of their own.
   */
  'PUT /projects/:project/relay-use': {
    body: Type.Object({
      domain: Type.Optional(Type.String()),
      installation: Type.Optional(Type.Boolean()),
      relay: Type.Union([Type.String(), Type.Null()]),
    }),
    response: list<Relay>(),
  },
  /** The DNS records that the provider wants for a domain of the project, with what was found. */
  'GET /projects/:project/relays/:relay/domains/:domain': { response: item<RelayRecords>() },
};
