import type { Victim } from './victim.ts';

export type Severity = 'high' | 'medium' | 'low';

/** Something that the product let happen, or that an attack could not tell away. */
export type Finding = { severity: Severity; what: string; evidence?: string };

/** What an attack is given: somebody to attack, and a book in which it writes what it asked. */
export type Target = {
  /** An installation that several attacks share, one after the other: nobody breaks it for the next. */
  shared(): Promise<Victim>;
  /** One for this attack alone, with more in its environment. */
  own(more?: Record<string, string>): Promise<Victim>;
  count(what: string, times?: number): void;
  /** For whoever reads the report. */
  note(text: string): void;
  /** A directory for what tools write; it is gone afterwards. */
  dir: string;
  limits: Limits;
};

export type Limits = {
  /** For sqlmap, in all. */
  sqlmapMinutes: number;
  /** For each parser that is fuzzed. */
  fuzzMinutes: number;
};

export type Attack = {
  id: string;
  title: string;
  passLine: string;
  /** Without tools from outside, and done soon. */
  quick: boolean;
  /** Programs without which it cannot be run. */
  needs?: string[];
  run(target: Target): Promise<Finding[]>;
};
