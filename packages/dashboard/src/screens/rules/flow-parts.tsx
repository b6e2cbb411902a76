import { Text } from '@mantine/core';
import { DoorOpen, Filter, Flag, type LucideIcon, Repeat, Send, SlidersHorizontal, Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RuleDocument, RuleFlow } from '@beckon/contract/dashboard';
import { endWords } from '../../parts/end-words.ts';
import { ENTRY_LABELS, entryKind, type Piece, piecesOf, stepKind, textOf } from './document.ts';
import { useFlow } from './flow-context.ts';
import { Edge, FlowNode, plural } from './flow-node.tsx';
import { capital, conditionWords, exitWords, type Part, triggerTitle } from './flow-words.ts';
import classes from './flow.module.css';

export function Triggers({ triggers, flow }: { triggers: Piece[]; flow: RuleFlow | undefined }): ReactNode {
  const { labels } = useFlow();
  const [first, ...others] = triggers.map((trigger) => triggerTitle(trigger, labels));
  const title = [
    first ?? 'Choose a trigger',
    ...others.map((words) => `or ${words.replace(/^When/, 'when')}`),
  ].join(' ');
  return (
    <li className={classes.item}>
      <FlowNode
        part="when"
        icon={Zap}
        kind="Trigger"
        title={title}
        numbers={flow && <Counted words={[`${flow.enrolled.toLocaleString('en-GB')} enrolled`]} />}
      />
    </li>
  );
}

export function Condition({
  condition,
  flow,
}: {
  condition: unknown;
  flow: RuleFlow | undefined;
}): ReactNode {
  const { labels } = useFlow();
  const words = conditionWords(condition, labels);
  const excluded = (flow?.excluded ?? []).reduce((sum, { count }) => sum + count, 0);
  const reasons = (flow?.excluded ?? []).map(({ sentence, count }) => `${count}: ${sentence}`).join('\n');
  return (
    <li className={classes.item}>
      <div className={classes.edge} />
      <FlowNode
        part="only_if"
        icon={Filter}
        kind="Condition"
        title={words === null ? 'All users who trigger the rule' : `Only if ${words}`}
        numbers={
          excluded > 0 && (
            <Counted words={[`${excluded.toLocaleString('en-GB')} not enrolled`]} title={reasons} />
          )
        }
      />
    </li>
  );
}

function Counted({ words, title }: { words: string[]; title?: string }): ReactNode {
  return (
    <span className={classes.numbers} {...(title === undefined ? {} : { title })}>
      {words.map((word) => (
        <span key={word}>{word}</span>
      ))}
    </span>
  );
}

export function Goal({ document, flow }: { document: RuleDocument; flow: RuleFlow | undefined }): ReactNode {
  const { labels } = useFlow();
  const steps = piecesOf(document['steps']);
  const last = steps.at(-1);
  const words = conditionWords(document['goal'], labels);
  return (
    <li className={classes.item}>
      {last !== undefined && stepKind(last) === 'end' ? (
        <div className={classes.edge} />
      ) : (
        <Edge path={`steps.${steps.length}`} label="Add step at the end" isLast />
      )}
      <FlowNode
        part="goal"
        icon={Flag}
        kind="Goal"
        title={words === null ? 'No goal' : capital(words)}
        numbers={
          flow &&
          words !== null && (
            <Counted
              words={[
                `${flow.goal.toLocaleString('en-GB')} of ${flow.enrolled.toLocaleString('en-GB')} reached it`,
              ]}
            />
          )
        }
      />
    </li>
  );
}

/** Where runs leave the flow, and the settings of the rule. */
export function Sides({ document, flow }: { document: RuleDocument; flow: RuleFlow | undefined }): ReactNode {
  const { labels } = useFlow();
  const ends = Object.entries(flow?.ended ?? {}).toSorted(([, a], [, b]) => b - a);
  const exits = exitWords(document, labels);
  const holdout = Number(document['holdout'] ?? 0);
  const kind = entryKind(document['enrollment']);
  return (
    <aside className={classes.sides} aria-label="Exits and settings">
      <Side part="goal" icon={DoorOpen} title="Exits">
        <Text size="sm">
          {exits.length === 0
            ? 'Runs end after the last step.'
            : `Ends early when ${exits.join(', or when ')}.`}
        </Text>
        {ends.length > 0 && (
          <ul className={classes.ends}>
            {ends.map(([reason, count]) => (
              <li key={reason}>
                <b>{count.toLocaleString('en-GB')}</b> {endWords(reason)}
              </li>
            ))}
          </ul>
        )}
      </Side>
      <Side part="enrollment" icon={Repeat} title="Enrollment">
        <Text size="sm">Enrolls a user {kind === null ? 'as written in JSON' : ENTRY_LABELS[kind]}.</Text>
      </Side>
      <Side part="sending" icon={Send} title="Sending">
        <Text size="sm">{sendingWords(document)}</Text>
      </Side>
      <Side part="limits" icon={SlidersHorizontal} title="Name and limits">
        <Text size="sm">
          Priority {textOf(document['priority']) || '50'}
          {holdout > 0 ? `, holdout group ${holdout} %` : ', no holdout group'}
          {flow && flow.holdout > 0 ? ` (${plural(flow.holdout, 'user')} held out)` : ''}.
        </Text>
      </Side>
    </aside>
  );
}

function sendingWords(document: RuleDocument): string {
  if (document['mode'] === 'draft') return 'Each draft waits for approval.';
  const deadline = textOf(document['deadline']);
  return deadline === '' ? 'Autopilot, after the project’s deadline.' : `Autopilot, after ${deadline}.`;
}

type SideProps = { part: Part; icon: LucideIcon; title: string; children: ReactNode };

function Side({ part, icon: Icon, title, children }: SideProps): ReactNode {
  const { faulty, actions, readOnly } = useFlow();
  return (
    <section className={classes.side} data-faulty={faulty.has(part)}>
      <button
        type="button"
        className={classes.sideOpen}
        aria-haspopup="dialog"
        data-side={part}
        onClick={() => actions.open(part)}
      >
        <Icon size={15} aria-hidden="true" />
        <span>{title}</span>
        <span className={classes.sideAction}>{readOnly ? 'Show' : 'Edit'}</span>
      </button>
      {children}
    </section>
  );
}
