import { createContext, use } from 'react';
import type { DocumentFault, PredicateFacts } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { faultsBelow } from './document.ts';

/** Options for the fields of a rule from this project, and the errors of their values. */
export type RuleFacts = PredicateFacts & {
  emails: string[];
  faults: DocumentFault[];
  readOnly: boolean;
};

const NOTHING: RuleFacts = {
  traits: [],
  events: [],
  audiences: [],
  emails: [],
  faults: [],
  readOnly: false,
};
export const FactsContext = createContext<RuleFacts>(NOTHING);

export function useFacts(): RuleFacts {
  return use(FactsContext);
}

/** The server's errors at this path of the document. */
export function useFault(path: string): string | undefined {
  return faultsBelow(useFacts().faults, path);
}

const FRESH_MS = 60_000;

/** Known names are suggestions. Every field accepts any text. */
export function useRuleFacts(faults: DocumentFault[], readOnly: boolean): RuleFacts {
  const facts = useApi('GET /projects/:project/predicate-facts', {}, { staleTimeMs: FRESH_MS });
  const emails = useApi('GET /projects/:project/templates', {}, { staleTimeMs: FRESH_MS });
  return {
    ...(facts.data?.data ?? NOTHING),
    emails: (emails.data?.data ?? []).filter(isPublished).map(({ name }) => name),
    faults,
    readOnly,
  };
}

function isPublished({ version, is_shipped }: { version: number | null; is_shipped: boolean }): boolean {
  return version !== null || is_shipped;
}
