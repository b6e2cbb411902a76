import type { ListResponse, ItemResponse, PageQuery } from './envelope.ts';
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

export type AudiencesApi = {
  'GET /projects/:project/audiences': { response: ListResponse<AudienceListed> };
  'POST /projects/:project/audiences': {
    body: { name: string; definition: unknown };
    response: ItemResponse<AudienceDetails>;
  };
  'POST /projects/:project/audiences/preview': {
    body: { definition: unknown; audience?: string };
    response: ItemResponse<DefinitionPreview>;
  };
  /** Returns the definition in words, or its errors. Counts nothing. */
  'POST /projects/:project/audiences/sentence': {
    body: { definition: unknown };
    response: ItemResponse<{ sentence: string }>;
  };
  'GET /projects/:project/predicate-facts': { response: ItemResponse<PredicateFacts> };
  'GET /projects/:project/audiences/:audience': { response: ItemResponse<AudienceDetails> };
  'PATCH /projects/:project/audiences/:audience': {
    body: { name?: string; definition?: unknown; updated_at?: string };
    response: ItemResponse<AudienceDetails>;
  };
  'DELETE /projects/:project/audiences/:audience': {
    body: { confirm: string };
    response: ItemResponse<{ id: string }>;
  };
  'GET /projects/:project/audiences/:audience/members': {
    query: PageQuery;
    response: ListResponse<AudienceMember>;
  };
  'GET /projects/:project/audiences/:audience/test': {
    query: { user: string };
    response: ItemResponse<AudienceTest>;
  };
};
