type LogFields = {
  readonly [
    Field in
      | 'advice'
      | 'archive_command'
      | 'archive_mode'
      | 'attempt'
      | 'data_dir'
      | 'err'
      | 'files'
      | 'ms'
      | 'pid'
      | 'port'
      | 'reason'
      | 'server'
      | 'signal'
  ]?: unknown;
};

type Write<Event extends string> = (fields: LogFields, event: `postgres.${Event}`) => void;

/** Writes one line for each event. The caller passes a log that accepts at least these events and fields. */
export type PostgresLog = {
  debug: Write<'gone_before_signal' | 'start_contended'>;
  info: Write<
    'partial_files_removed' | 'recovered' | 'started' | 'stopped' | 'stopped_to_archive' | 'stopped_to_write'
  >;
  warn: Write<'log_not_truncated' | 'lost' | 'not_stopped' | 'stale_pid_removed'>;
  error: Write<'not_archiving' | 'recovery_failed' | 'used_by_other_server'>;
};
