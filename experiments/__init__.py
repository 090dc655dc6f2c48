"""Jobs, the supervised runner, the store, tables, verdicts and the report.

Folders in the order of the data: ``planning`` lists jobs, ``running`` does them in one of the
``executors`` while ``display`` shows how far it is, ``records`` keeps what they leave behind;
``tables`` and ``claims`` are computed from that, ``verdicts`` compare them with the paper,
``figures`` and ``report`` show everything. ``search`` looks for hyperparameters, ``bench`` measures
speed, and ``commands`` are the verbs of the command line.
"""
