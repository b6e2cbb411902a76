import { Group, Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';

type Numbered = { version: number };
type Props<Version> = {
  versions: Version[];
  labelOf: (version: Version) => string;
  /** Beside the select: when the version was saved, and its actions. */
  beside: (version: Version) => ReactNode;
  /** The version with the one before. */
  children: (version: Version, before: Version | undefined) => ReactNode;
};

/** Selects one of the saved versions, newest first, and compares it with the one before. */
export function VersionSelect<Version extends Numbered>(props: Props<Version>): ReactNode {
  const { versions, labelOf, beside, children } = props;
  const [chosen, setChosen] = useState(String(versions[0]?.version ?? ''));
  const at = versions.findIndex(({ version }) => String(version) === chosen);
  const version = versions[at];
  if (!version) return null;
  return (
    <>
      <Group gap="md" align="end">
        <Select
          label="Version"
          value={chosen}
          onChange={(next) => setChosen(next ?? chosen)}
          allowDeselect={false}
          data={versions.map((entry) => ({ value: String(entry.version), label: labelOf(entry) }))}
          w={200}
        />
        {beside(version)}
      </Group>
      {children(version, versions[at + 1])}
    </>
  );
}
