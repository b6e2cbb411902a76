import { Alert, Progress, Stack, Text } from '@mantine/core';
import { UserPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RuleEnrollment, RuleDetails } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { useNow, When } from '../../parts/index.ts';
import { Excluded } from './enrollment-preview.tsx';
import { enrollmentTitle, progressWords } from './enrollment-words.ts';

const LOOK_EVERY_MS = 2_000;
const SHOWN_FOR_MS = 7 * 86_400_000;

/** `reference`: the name or id by which the page reads the rule, so that both read the same cached answer. */
type Props = { reference: string; enrollment: RuleEnrollment };

/** The newest enrollment of a rule: its progress while it runs, and its result for a week. */
export function EnrollmentProgress({
  reference,
  enrollment,
}: Pick<Props, 'reference'> & Pick<RuleDetails, 'enrollment'>): ReactNode {
  const now = useNow();
  if (!enrollment) return null;
  if (enrollment.state === 'running') return <Running reference={reference} enrollment={enrollment} />;
  const isRecent = enrollment.ended_at !== null && Date.parse(enrollment.ended_at) > now - SHOWN_FOR_MS;
  return isRecent ? <EnrollmentStatus enrollment={enrollment} /> : null;
}

function Running({ reference, enrollment }: Props): ReactNode {
  useApi('GET /projects/:project/rules/:rule', { params: { rule: reference } }, { everyMs: LOOK_EVERY_MS });
  return <EnrollmentStatus enrollment={enrollment} />;
}

function EnrollmentStatus({ enrollment }: { enrollment: RuleEnrollment }): ReactNode {
  const { state, members, processed, excluded, started_at: startedAt } = enrollment;
  return (
    <Alert mb="md" icon={<UserPlus size={18} />} title={enrollmentTitle(enrollment)}>
      <Stack gap="xs">
        <Text size="sm">
          {progressWords(enrollment)} Started <When at={startedAt} style="relative" />.
        </Text>
        {state === 'running' && (
          <Progress
            value={members === 0 ? 100 : (processed / members) * 100}
            aria-label="Members processed"
          />
        )}
        <Excluded excluded={excluded} />
      </Stack>
    </Alert>
  );
}
