import type { RuleDocument, RuleEdits, RuleDetails } from '@beckon/contract/dashboard';
import { type Piece, pieceOf, piecesOf } from './document.ts';

type Proposal = RuleEdits['proposals'][number];

/**
 * Stores a proposal as unsaved text of the editor: nothing is saved before a member
 * has reviewed it there. Keys and format are those of `useEdited`.
 */
export function keepProposal(proposal: Proposal, rule: RuleDetails): void {
  const { template: email, part, after } = proposal;
  if (email !== null) {
    sessionStorage.setItem(`beckon-proposal:${email}`, JSON.stringify({ [part]: after }));
    return;
  }
  const document = withProposal(rule.definition, proposal);
  const kept = { value: document, base: rule.updated_at };
  sessionStorage.setItem(`beckon-kept:rule:${rule.id}`, JSON.stringify(kept));
}

/** Applied to each email of the rule that contains the original text. */
export function withProposal(document: RuleDocument, { part, before, after }: Proposal): RuleDocument {
  return { ...document, steps: changed(piecesOf(document['steps']), { part, before, after }) };
}

function changed(steps: Piece[], proposal: Pick<Proposal, 'part' | 'before' | 'after'>): Piece[] {
  const { part, before, after } = proposal;
  return steps.map((step) => {
    const email = pieceOf(step['draft']);
    const ways = Object.fromEntries(
      (['then', 'else'] as const).flatMap((branch) =>
        branch in step ? [[branch, changed(piecesOf(step[branch]), proposal)]] : [],
      ),
    );
    if (email[part] !== before) return { ...step, ...ways };
    return { ...step, ...ways, draft: { ...email, [part]: after } };
  });
}
