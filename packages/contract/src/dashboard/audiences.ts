import Type from 'typebox';
import { EXTERNAL_USER_ID_MAX_CHARS } from '../limits.ts';
import { FILTER, PAGE, item, list, raw, sortOf } from './envelope.ts';
import type { Explained } from './people.ts';

/** One day in UTC. */
export type AudienceDay = { day: string; joined: number; left: number; members: number };

export type AudienceUse = { kind: 'rule' | 'audience'; id: string; name: string };

export type AudienceListed = {
  id: string;
  name: string;
  /** `rebuilding`: an edited definition is being built while the members of the old one are served. */
  state: 'building' | 'ready' | 'rebuilding';
  members: number;
  progress: { built: number; users: number } | null;
  sentence: string;
  created_at: string;
  updated_at: string;
  /** One entry per day, ending today. */
  growth: AudienceDay[];
  used_by: AudienceUse[];
};

export type AudienceMember = { external_user_id: string; since: string };

export type AudienceMemberListed = AudienceMember & { name: string | null; email: string | null };

export type AudienceDetails = AudienceListed & { definition: unknown; sample: AudienceMember[] };

export type DefinitionPreview = {
  count: number;
  sample: { external_user_id: string }[];
  sentence: string;
  /** Events of the definition that no definition counted over all time before. Until they are counted, they seem not to have happened. */
  uncounted_events: string[];
  /** The users who will enter or leave by time alone until the end of the project's day. */
  today: { ends_at: string; enters: number; leaves: number };
  /** The users who would join and leave if the definition replaced that of `audience`; null without `audience`. */
  edit: { joins: number; leaves: number } | null;
};

export type AudienceTest = {
  external_user_id: string;
  /** Null while the audience is still being built. */
  member: boolean | null;
  explanation: Explained;
};

/** The names and types for a definition: those that this project has sent. */
export type PredicateFacts = {
  traits: { trait: string; types: string[]; known: boolean; examples: string[] }[];
  events: { name: string; properties: { property: string; types: string[] }[] }[];
  audiences: { id: string; name: string }[];
};

/** The reader of a definition reports errors at their place, so any value may arrive here. */
const Definition = Type.Unknown();

export const AUDIENCES_API = {
  /** Without `limit`: all of them. */
  'GET /projects/:project/audiences': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER, sort: sortOf('audiences') }),
    response: list<AudienceListed>(),
  },
  'GET /projects/:project/audiences.csv': {
    query: Type.Object({ filter: FILTER, sort: sortOf('audiences') }),
    response: raw(),
  },
  'POST /projects/:project/audiences': {
    body: Type.Object({ name: Type.String(), definition: Definition }),
    response: item<AudienceDetails>(),
  },
  'POST /projects/:project/audiences/preview': {
    body: Type.Object({ definition: Definition, audience: Type.Optional(Type.String()) }),
    response: item<DefinitionPreview>(),
  },
  /** Returns the definition in words, or its errors. Counts nothing. */
  'POST /projects/:project/audiences/sentence': {
    body: Type.Object({ definition: Definition }),
    response: item<{ sentence: string }>(),
  },
  'GET /projects/:project/predicate-facts': { response: item<PredicateFacts>() },
  'GET /projects/:project/audiences/:audience': { response: item<AudienceDetails>() },
  'PATCH /projects/:project/audiences/:audience': {
    body: Type.Object({
      name: Type.Optional(Type.String()),
      definition: Type.Optional(Definition),
      updated_at: Type.Optional(Type.String()),
    }),
    response: item<AudienceDetails>(),
  },
  'DELETE /projects/:project/audiences/:audience': {
    body: Type.Object({ confirm: Type.String() }),
    response: item<{ id: string }>(),
  },
  'GET /projects/:project/audiences/:audience/members': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<AudienceMemberListed>(),
  },
  'GET /projects/:project/audiences/:audience/members.csv': {
    query: Type.Object({ filter: FILTER }),
    response: raw(),
  },
  'GET /projects/:project/audiences/:audience/test': {
    query: Type.Object({ user: Type.String({ minLength: 1, maxLength: EXTERNAL_USER_ID_MAX_CHARS }) }),
    response: item<AudienceTest>(),
  },
};
