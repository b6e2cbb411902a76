import type { Many, One, PageQuery } from './envelope.ts';
import type { Explained } from './people.ts';

/** A day of UTC. */
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
  /** A day each, today the last. */
  growth: AudienceDay[];
  used_by: AudienceUse[];
};

export type AudienceMember = { external_user_id: string; since: string };

export type AudienceShown = AudienceListed & { definition: unknown; sample: AudienceMember[] };

export type DefinitionPreview = {
  count: number;
  sample: { external_user_id: string }[];
  sentence: string;
  /** Events asked about over all time that nobody asked about before: until they are counted they seem not to have happened. */
  uncounted_events: string[];
  /** Whom time alone will bring or take until the project's day ends. */
  today: { ends_at: string; enters: number; leaves: number };
  /** Where it would take the place of an audience's definition: whom that brings and takes. */
  edit: { joins: number; leaves: number } | null;
};

export type AudienceTest = {
  external_user_id: string;
  /** Null while the audience is still being built. */
  member: boolean | null;
  explanation: Explained;
};

/** What a definition may ask about here: the names and types that this project has really sent. */
export type PredicateFacts = {
  traits: { trait: string; types: string[]; known: boolean; examples: string[] }[];
  events: { name: string; properties: { property: string; types: string[] }[] }[];
  audiences: { id: string; name: string }[];
};

export type AudiencesApi = {
  'GET /projects/:project/audiences': { answer: Many<AudienceListed> };
  'POST /projects/:project/audiences': {
    body: { name: string; definition: unknown };
    answer: One<AudienceShown>;
  };
  'POST /projects/:project/audiences/preview': {
    body: { definition: unknown; audience?: string };
    answer: One<DefinitionPreview>;
  };
  /** In words, and what is wrong with it; counts nothing. */
  'POST /projects/:project/audiences/sentence': {
    body: { definition: unknown };
    answer: One<{ sentence: string }>;
  };
  'GET /projects/:project/predicate-facts': { answer: One<PredicateFacts> };
  'GET /projects/:project/audiences/:audience': { answer: One<AudienceShown> };
  'PATCH /projects/:project/audiences/:audience': {
    body: { name?: string; definition?: unknown; updated_at?: string };
    answer: One<AudienceShown>;
  };
  'DELETE /projects/:project/audiences/:audience': { body: { confirm: string }; answer: One<{ id: string }> };
  'GET /projects/:project/audiences/:audience/members': { query: PageQuery; answer: Many<AudienceMember> };
  'GET /projects/:project/audiences/:audience/test': { query: { user: string }; answer: One<AudienceTest> };
};
