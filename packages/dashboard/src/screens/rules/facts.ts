import { createContext, use } from 'react';
import type { DocumentFault, PredicateFacts } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { faultsBelow } from './document.ts';

/** What the fields of a rule may be filled with: what this project has, and what is wrong with what stands in them. */
export type RuleFacts = PredicateFacts & {
  letters: string[];
  faults: DocumentFault[];
  readOnly: boolean;
};

const NOTHING: RuleFacts = {
  traits: [],
  events: [],
  audiences: [],
  letters: [],
  faults: [],
  readOnly: false,
};
export const FactsContext = createContext<RuleFacts>(NOTHING);

export function useFacts(): RuleFacts {
  return use(FactsContext);
}

/** What the server says of this place of the document. */
export function useFault(place: string): string | undefined {
  return faultsBelow(useFacts().faults, place);
}

const FRESH_MS = 60_000;

/** Known names help to fill in a field; without them every field still takes whatever is written. */
export function useRuleFacts(faults: DocumentFault[], readOnly: boolean): RuleFacts {
  const facts = useApi('GET /projects/:project/predicate-facts', {}, { staleTimeMs: FRESH_MS });
  const letters = useApi('GET /projects/:project/templates', {}, { staleTimeMs: FRESH_MS });
  return {
    ...(facts.data?.data ?? NOTHING),
    letters: (letters.data?.data ?? []).filter(isPublished).map(({ name }) => name),
    faults,
    readOnly,
  };
}

function isPublished({ version, is_shipped }: { version: number | null; is_shipped: boolean }): boolean {
  return version !== null || is_shipped;
}
