import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { later } from '../../parts/index.ts';
import { Segments } from '../../parts/segments.tsx';
import { useFacts } from './facts.ts';
import { FlowView } from './flow-view.tsx';
import type { PartProps } from './limits-field.tsx';
import { RuleSummary } from './rule-summary.tsx';
import type { Checked } from './use-checked.ts';

const RuleSections = later(() => import('./rule-sections.tsx'), 'RuleSections');
const JsonForm = later(() => import('./json-form.tsx'), 'JsonForm');

export type RuleView = 'flow' | 'form' | 'json';

type Props = PartProps & {
  view: RuleView;
  onView: (view: RuleView) => void;
  /** Null: a rule that is not created yet. */
  rule: RuleDetails | null;
  checking: Checked;
  /** Shown instead of the summary. */
  begin?: ReactNode;
};

/** Edits a rule as a flow, as a form or as JSON. */
export function RuleForm({ view, onView, rule, checking, begin, ...props }: Props): ReactNode {
  const { readOnly } = useFacts();
  return (
    <Stack gap="md">
      <Segments
        label="View"
        value={view}
        onChange={onView}
        options={{ flow: 'Flow', form: 'Form', json: 'JSON' }}
        w="fit-content"
      />
      {view === 'flow' ? (
        <FlowView {...props} rule={rule} checking={checking} readOnly={readOnly} />
      ) : (
        <Stack gap="md" maw={860}>
          {begin ?? <RuleSummary {...checking} />}
          {view === 'json' ? <JsonForm {...props} /> : <RuleSections {...props} />}
        </Stack>
      )}
    </Stack>
  );
}
