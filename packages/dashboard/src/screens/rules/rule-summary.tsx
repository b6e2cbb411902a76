import { Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ErrorBox, Mark, Sentence } from '../../parts/index.ts';
import { FaultList } from './fault-list.tsx';
import type { FormFault } from './fault-words.ts';
import classes from './rules.module.css';
import type { Checked } from './use-checked.ts';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';

type Props = Checked & {
  /** Shows only problems, without the summary. */
  isBrief?: boolean;
  /** Opens the field of an error. By default, it gets the focus. */
  onPick?: (fault: FormFault) => void;
};

/** A summary of the rule while it is edited, with errors and warnings. */
export function RuleSummary({
  checked,
  isChecking,
  error,
  retry,
  isBrief = false,
  onPick,
}: Props): ReactNode {
  const hasProblems = checked !== null && checked.faults.length + checked.warnings.length > 0;
  const isShown = (checked !== null || error === null) && (hasProblems || !isBrief);
  return (
    <>
      {error && <ErrorBox error={error} title="The rule could not be checked" retry={retry} />}
      {isShown && (
        <div className={classes.summary} aria-live="polite" aria-busy={isChecking}>
          {checked === null ? (
            <Muted>Checking the rule…</Muted>
          ) : (
            <>
              {!isBrief && checked.sentence !== null && (
                <Text size="sm" component="p" m={0}>
                  <Sentence text={checked.sentence} />
                </Text>
              )}
              <Problems {...checked} isBrief={isBrief} {...(onPick ? { onPick } : {})} />
            </>
          )}
        </div>
      )}
    </>
  );
}

type ProblemsProps = Pick<Props, 'isBrief' | 'onPick'> &
  Pick<NonNullable<Checked['checked']>, 'faults' | 'warnings'>;

function Problems({ faults, warnings, isBrief, onPick }: ProblemsProps): ReactNode {
  return (
    <>
      {faults.length > 0 && <FaultList faults={faults} {...(onPick ? { onPick } : {})} />}
      {warnings.length > 0 && (
        <Stack gap={4} align="start" mt={isBrief ? 0 : 'xs'}>
          <Mark icon={TriangleAlert} tone="warn" label="Warnings" />
          <Bullets items={warnings.map(({ message }) => message)} />
        </Stack>
      )}
    </>
  );
}
