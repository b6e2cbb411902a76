import { memo, type ReactNode } from 'react';
import { BRANCH_LABELS, type Piece, piecesOf, stepKind } from './document.ts';
import { useFlow } from './flow-context.ts';
import { type Branch, BRANCHES } from './flow-edits.ts';
import { Edge, StepNode } from './flow-node.tsx';
import { stepName } from './flow-words.ts';
import classes from './flow.module.css';

/** The steps of a list as its items. Only changed steps render again. */
export function StepItems({ steps, list }: { steps: Piece[]; list: string }): ReactNode {
  return steps.map((step, index) => <StepItem key={index} step={step} path={`${list}.${index}`} />);
}

const StepItem = memo(function StepItem({ step, path }: { step: Piece; path: string }): ReactNode {
  const { labels } = useFlow();
  const kind = stepKind(step);
  return (
    <li className={classes.item}>
      <Edge path={path} label={`Add step before ${stepName(step, labels)}`} />
      <StepNode step={step} path={path as `steps.${string}`} />
      {(kind === 'branch' || kind === 'wait_for') && (
        <div className={classes.ways}>
          {BRANCHES.map((branch) => (
            <Way
              key={branch}
              branch={branch}
              label={BRANCH_LABELS[kind][branch]}
              steps={piecesOf(step[branch])}
              list={`${path}.${branch}`}
            />
          ))}
        </div>
      )}
    </li>
  );
});

type WayProps = { branch: Branch; label: string; steps: Piece[]; list: string };

function Way({ branch, label, steps, list }: WayProps): ReactNode {
  const last = steps.at(-1);
  const doesEnd = last !== undefined && stepKind(last) === 'end';
  return (
    <div className={classes.way} data-branch={branch} data-ends={doesEnd}>
      <span className={classes.wayLabel}>{label}</span>
      {steps.length > 0 && (
        <ol className={classes.list} aria-label={label}>
          <StepItems steps={steps} list={list} />
        </ol>
      )}
      {!doesEnd && (
        <div className={classes.rest}>
          <Edge path={`${list}.${steps.length}`} label={`Add step at the end of “${label}”`} isLast />
        </div>
      )}
    </div>
  );
}
