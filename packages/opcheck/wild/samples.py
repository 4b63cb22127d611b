"""Inputs and attrs of ops that opcheck does not guess: of public libraries and of TensorFlow itself.

Arrays of ones and ramps suffice: opcheck varies them. An op that is not here is guessed.
"""

import numpy as np


def ints(*values, dtype="int32", shape=None) -> np.ndarray:
    """An array of integers."""
    array = np.array(values, dtype)
    return array.reshape(shape) if shape else array


def scalar(value, dtype="int32") -> np.ndarray:
    """An array of rank 0."""
    return np.array(value, dtype)


def texts(*values: bytes) -> np.ndarray:
    """A vector of strings."""
    return np.array(values, object)


def ramp(*shape, dtype="float32") -> np.ndarray:
    """Numbers from 0 to less than 1."""
    count = int(np.prod(shape))
    return (np.arange(count) / max(count, 1)).reshape(shape).astype(dtype)


def longs(*values, shape=None) -> np.ndarray:
    """An array of int64."""
    return ints(*values, dtype="int64", shape=shape)


_TEXT = {
    "RougeL": (
        [longs(1, 2, 3), longs(0, 3), longs(1, 3), longs(0, 2), scalar(-1, "float32")],
        {},
    ),
    "TFText>OffsetsToBoiseTags": (
        [
            *(ints(0, 4), ints(3, 7), ints(0), ints(3), texts(b"name")),
            *(longs(0, 2), longs(0, 2), longs(0, 1), longs(0, 1), longs(0, 1)),
            scalar(False, "bool"),
        ],
        {},
    ),
    "TFText>BoiseTagsToOffsets": (
        [
            *(ints(0, 4), ints(3, 7), texts(b"B-name", b"O")),
            *(longs(0, 2), longs(0, 2), longs(0, 2)),
        ],
        {},
    ),
    "TFText>ByteSplitWithOffsets": ([texts(b"abc", b"de")], {}),
    "TFText>ByteSplitByOffsets": (
        [texts(b"abcd"), ints(0, 2), ints(2, 4), longs(0, 2)],
        {},
    ),
    "ConstrainedSequence": (
        [ramp(1, 3, 2), longs(3), np.ones((3, 3), bool), np.ones((3, 3), "float32")],
        {
            "use_viterbi": True,
            "use_log_space": True,
            "use_start_and_end_states": True,
        },
    ),
    "MaxSpanningTree": ([ints(3), ramp(1, 3, 3)], {}),
    "TFText>NgramsStringJoin": (
        [texts(b"a", b"b", b"c"), [longs(0, 3)]],
        {"width": 2, "axis": -1, "string_separator": " "},
    ),
    "NormalizeUTF8": ([texts(b"one", b"two")], {"normalization_form": "NFKC"}),
    "RegexSplitWithOffsets": (
        [texts(b"a b", b"c"), scalar(b"\\s", object), scalar(b"", object)],
        {},
    ),
    "SentenceFragments": (
        [longs(2), longs(0, 2), longs(1, 3), texts(b"a", b"."), longs(0, 0)],
        {"input_encoding": "UTF-8"},
    ),
    "SentenceFragmentsV2": ([texts(b"One. Two.")], {}),
    "TokenizerFromLogits": (
        [texts(b"ab c"), ramp(1, 4, 2), scalar(True, "bool")],
        {},
    ),
    "SplitMergeTokenizeWithOffsets": (
        [texts(b"ab", b"cd"), ints(0, 1, 0, 1), ints(0, 2, 4)],
        {},
    ),
    "TFText>RoundRobinGenerateMasks": (
        [scalar(3), [ramp(3), ramp(2)], [longs(0, 3), longs(0, 2)]],
        {},
    ),
    "TFText>RoundRobinTrim": (
        [scalar(3), [ramp(3), ramp(2)], [longs(0, 3), longs(0, 2)]],
        {},
    ),
    "UnicodeScriptTokenizeWithOffsets": ([ints(97, 32, 98), longs(0, 3)], {}),
    "WhitespaceTokenizeWithOffsets": ([ints(97, 32, 98), longs(0, 3)], {}),
    "TFText>Utf8Binarize": (
        [texts(b"abc", b"d")],
        {"word_length": 3, "bits_per_char": 8, "replacement_char": 65},
    ),
}

# One frame with two atoms of one type, which have two neighbors each.
_NATOMS = ints(2, 2, 2)
_NLIST = ints(1, -1, 0, -1, shape=(1, 4))
_RIJ, _TYPE = ramp(1, 12), ints(0, 0, shape=(1, 2))
_SEA = {"n_a_sel": 2, "n_r_sel": 0}
_NET, _IN = ramp(1, 16), ramp(1, 48)
_NET_R, _IN_R = ramp(1, 4), ramp(1, 12)
_BOX = np.eye(3, dtype="float32").reshape(1, 9) * 10
_ENVIRONMENT = [ramp(1, 6) * 3, _TYPE, _NATOMS, _BOX, ints(0, 0, 0, 0, 0, 0)]
_STATISTICS = [np.zeros((1, 16), "float32"), np.ones((1, 16), "float32")]
_STATISTICS_R = [np.zeros((1, 4), "float32"), np.ones((1, 4), "float32")]
_CUT = {"rcut_a": -1.0, "rcut_r": 6.0, "rcut_r_smth": 5.0, "sel_a": [4], "sel_r": [0]}
_CUT_R = {"rcut": 6.0, "rcut_smth": 5.0, "sel": [4]}
# Of 2 and 2 steps; 4 polynomials of degree 5 for each of 8 outputs.
_TABLE = [ramp(4, 48), np.array([0, 1, 2, 0.5, 0.5, -1], "float32")]
_EM = [ramp(6, 1), ramp(2, 3, 4)]
_DEEPMD = {
    **{
        name: ([ramp(2, 3), ramp(2, 3)], {})
        for name in ("AddFltNvnmd", "MulFltNvnmd", "DotmulFltNvnmd")
    },
    **{
        name: ([ramp(2, 3)], {})
        for name in ("CopyFltNvnmd", "FltNvnmd", "Tanh4FltNvnmd")
    },
    "QuantizeNvnmd": (
        [ramp(2, 3)],
        {"isround": 1, "nbit1": 8, "nbit2": 8, "nbit3": 8},
    ),
    "MatmulFitnetNvnmd": (
        [ramp(2, 3), ramp(3, 4)],
        {"nbitx": 8, "nbitw": 8, "normw": 0},
    ),
    "MatmulFlt2fixNvnmd": ([ramp(2, 3), ramp(3, 4)], {"nbit": 8}),
    "MatmulFltNvnmd": ([ramp(2, 3), ramp(3, 4)], {"normx": 0, "normw": 0}),
    "ProdEnvMatA": ([*_ENVIRONMENT, *_STATISTICS], _CUT),
    "ProdEnvMatAMix": ([*_ENVIRONMENT, *_STATISTICS], _CUT),
    "DescrptSeA": ([*_ENVIRONMENT, *_STATISTICS], _CUT),
    "DescrptNorot": ([*_ENVIRONMENT, *_STATISTICS], _CUT),
    "ProdEnvMatANvnmdQuantize": ([*_ENVIRONMENT, *_STATISTICS], _CUT),
    "ProdEnvMatR": ([*_ENVIRONMENT, *_STATISTICS_R], _CUT_R),
    "DescrptSeR": ([*_ENVIRONMENT, *_STATISTICS_R], _CUT_R),
    "DescrptSeAEf": ([*_ENVIRONMENT, ramp(1, 6), *_STATISTICS], _CUT),
    "ProdForceSeA": ([_NET, _IN, _NLIST, _NATOMS], _SEA),
    "ProdForceNorot": ([_NET, _IN, _NLIST, _NATOMS], _SEA),
    "ParallelProdForceSeA": ([_NET, _IN, _NLIST, _NATOMS], _SEA),
    "ProdForceSeR": ([_NET_R, _IN_R, _NLIST, _NATOMS], {}),
    "ProdVirialSeA": ([_NET, _IN, _RIJ, _NLIST, _NATOMS], _SEA),
    "ProdVirialNorot": ([_NET, _IN, _RIJ, _NLIST, _NATOMS], _SEA),
    "ProdVirialSeR": ([_NET_R, _IN_R, _RIJ, _NLIST, _NATOMS], {}),
    "ProdForceSeAGrad": ([ramp(1, 6), _NET, _IN, _NLIST, _NATOMS], _SEA),
    "ProdForceSeRGrad": ([ramp(1, 6), _NET_R, _IN_R, _NLIST, _NATOMS], {}),
    "ProdVirialSeAGrad": ([ramp(1, 9), _NET, _IN, _RIJ, _NLIST, _NATOMS], _SEA),
    "ProdVirialSeRGrad": ([ramp(1, 9), _NET_R, _IN_R, _RIJ, _NLIST, _NATOMS], {}),
    "SoftMinForceGrad": ([ramp(1, 6), ramp(1, 2), _RIJ, _NLIST, _NATOMS], _SEA),
    "SoftMinForce": ([ramp(1, 2), _RIJ, _NLIST, _NATOMS], _SEA),
    "SoftMinVirial": ([ramp(1, 2), _RIJ, _RIJ, _NLIST, _NATOMS], _SEA),
    "SoftMinSwitch": (
        [_TYPE, _RIJ, _NLIST, _NATOMS],
        {"sel_a": [2], "sel_r": [0], "alpha": 0.5, "rmin": 0.5, "rmax": 2.0},
    ),
    "EwaldRecp": (
        [ramp(6), ramp(2), _NATOMS, _BOX.reshape(9)],
        {"ewald_beta": 1.0, "ewald_h": 2.0},
    ),
    "MapAparam": ([ramp(1, 4), _NLIST, _NATOMS], _SEA),
    "DprcPairwiseIdx": ([ints(1, 0, shape=(1, 2)), _NATOMS], {}),
    "TabulateFusion": ([*_TABLE, *_EM], {"last_layer_size": 8}),
    "TabulateFusionSeA": ([*_TABLE, *_EM], {"last_layer_size": 8}),
    "TabulateFusionSeAtten": (
        [*_TABLE, *_EM, ramp(6, 8)],
        {"last_layer_size": 8},
    ),
    "TabulateFusionSeR": ([*_TABLE, ramp(2, 3)], {"last_layer_size": 8}),
    "UnaggregatedDyDxS": ([ramp(5, 4), ramp(1, 4), ramp(5, 4), scalar(1)], {}),
    "UnaggregatedDy2DxS": (
        [ramp(5, 4), ramp(5, 4), ramp(1, 4), ramp(5, 4), scalar(1)],
        {},
    ),
    "UnaggregatedDyDx": (
        [ramp(5, 8), ramp(4, 8), ramp(5, 4), ramp(5, 8), scalar(1)],
        {},
    ),
}

_CDF = ints(0, 64, 128, 256, shape=(1, 4))
_COMPRESSION = {
    "PmfToQuantizedCdf": (
        [np.array([0.5, 0.25, 0.25], "float32")],
        {"precision": 8},
    ),
    "StochasticRound": ([ramp(2, 3), scalar(0.5, "float32"), ints(1, 2, 3, 4)], {}),
    "RangeEncode": ([np.array([0, 1, 2], "int16"), _CDF], {"precision": 8}),
    "RangeDecode": ([scalar(b"\x40\x80", object), ints(3), _CDF], {"precision": 8}),
    "UnboundedIndexRangeEncode": (
        [ints(0, 1, 0), ints(0, 0, 0), _CDF, ints(4), ints(0)],
        {"precision": 8, "overflow_width": 4},
    ),
    "UnboundedIndexRangeDecode": (
        [scalar(b"\x40", object), ints(0, 0, 0), _CDF, ints(4), ints(0)],
        {"precision": 8, "overflow_width": 4},
    ),
    "RunLengthGammaEncode": ([ints(0, 0, 3, 0)], {}),
    "RunLengthEncode": (
        [ints(0, 0, 3, 0)],
        {
            "run_length_code": 1,
            "magnitude_code": 1,
            "use_run_length_for_non_zeros": False,
        },
    ),
}

_STRUCT = {
    "EquiJoinIndices": ([longs(0, 0, 1), longs(0, 1)], {}),
    "EquiJoinAnyIndices": ([longs(0, 0, 1), longs(0, 1)], {}),
    "RunLengthBefore": ([longs(0, 0, 1)], {}),
}

_PNM = b"P5 2 2 255\n\x00\x40\x80\xff"
_IO = {
    "IO>EncodeBmp": ([np.zeros((2, 2, 3), "uint8")], {}),
    "IO>EncodeGif": ([np.zeros((1, 2, 2, 3), "uint8")], {}),
    "IO>DecodePnm": ([scalar(_PNM, object)], {}),
    "IO>DecodeNV12": ([scalar(b"\x80" * 6, object), ints(2, 2)], {}),
    "IO>DecodeYUY2": ([scalar(b"\x80" * 8, object), ints(2, 2)], {}),
    "IO>DecodeLibsvm": ([texts(b"1 1:2.5 2:1")], {"num_features": 4}),
    "IO>RE2FullMatch": ([texts(b"ab", b"c")], {"pattern": "(a)b"}),
    "IO>AudioResample": ([ramp(8, 1), scalar(4, "int64"), scalar(8, "int64")], {}),
    "IO>AudioEncodeWAV": ([np.zeros((8, 1), "int16"), scalar(8000, "int64")], {}),
    "IO>AudioEncodeFlac": ([np.zeros((8, 1), "int16"), scalar(8000, "int64")], {}),
    "IO>DecodeObj": ([scalar(b"v 1 2 3\nv 4 5 6\n", object)], {}),
}

_PLACES, _AREA = longs(0, 0, 0, 1, 1, 0, shape=(3, 2)), longs(2, 2)
_SPARSE = [_PLACES, ramp(3), _AREA]
_OTHER = [longs(0, 1, 1, 1, shape=(2, 2)), ramp(2), _AREA]
_SETS = [longs(0, 0, 1, 0, shape=(2, 2)), longs(1, 5), longs(2, 1)]
_ROWS = [ramp(4, 3), ints(0, 1, 2), ints(0, 0, 1)]
_IMAGE, _COLOR = ramp(1, 4, 4, 2), ramp(3)
_SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_HALVES = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_CUBES = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
_TWO_BOXES = np.float32([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.6]])
_PEEPHOLES = [ramp(4), ramp(4), ramp(4)]
_STATE = [ramp(2, 4), ramp(2, 4)]
_GRU = [ramp(2, 3), ramp(2, 4), ramp(7, 8), ramp(7, 4), ramp(8), ramp(4)]
_LSTM = [ramp(2, 3), *_STATE, ramp(7, 16), *_PEEPHOLES, ramp(16)]
_LSTMS = [scalar(3, "int64"), ramp(3, 2, 3), *_LSTM[1:]]
_NORM = [_COLOR + 1, _COLOR, _COLOR, _COLOR + 1]
_ZERO, _ONE = scalar(0, "float32"), scalar(1, "float32")
_SEED = ints(1, 2)
_TENSORFLOW = {
    "Fill": ([ints(2), scalar(1, "float32")], {}),
    # Sparse
    "SparseSliceGrad": ([ramp(2), _PLACES, longs(0, 0), _PLACES[:2]], {}),
    "SparseSlice": ([*_SPARSE, longs(0, 0), longs(1, 2)], {}),
    "DenseToSparseSetOperation": (
        [longs(1, 2, 3, 4, shape=(2, 2)), *_SETS],
        {"set_operation": "intersection"},
    ),
    "SparseToSparseSetOperation": ([*_SETS, *_SETS], {"set_operation": "a-b"}),
    "SparseSoftmax": (_SPARSE, {}),
    "SparseCountSparseOutput": (
        [_PLACES, ints(1, 2, 1), _AREA, ramp(3)],
        {"binary_output": False},
    ),
    "SparseToDense": ([_PLACES, _AREA, ramp(3), _ZERO], {}),
    "SparseDenseCwiseDiv": ([*_SPARSE, ramp(2, 2) + 1], {}),
    "SparseSparseMaximum": ([*_SPARSE, *_OTHER], {}),
    "SparseSparseMinimum": ([*_SPARSE, *_OTHER], {}),
    "SparseReduceMax": ([*_SPARSE, ints(1)], {}),
    "SparseReduceMaxSparse": ([*_SPARSE, ints(1)], {}),
    "SparseAdd": ([*_SPARSE, *_OTHER, _ZERO], {}),
    "SparseAddGrad": (
        [ramp(4), _PLACES, _OTHER[0], longs(0, 0, 0, 1, 1, 0, 1, 1, shape=(4, 2))],
        {},
    ),
    "SparseTensorDenseMatMul": ([*_SPARSE, ramp(2, 3)], {}),
    # Ragged
    "RaggedBincount": ([longs(0, 2, 3), ints(0, 1, 1), scalar(3), ramp(0)], {}),
    "RaggedTensorToTensor": (
        [longs(2, 3), ramp(3), _ZERO, [longs(0, 2, 3)]],
        {"row_partition_types": ["ROW_SPLITS"]},
    ),
    # Segments, bins, slices
    "SparseSegmentSqrtN": (_ROWS, {}),
    "SparseSegmentSum": (_ROWS, {}),
    "SparseSegmentMean": (_ROWS, {}),
    "SparseSegmentMeanWithNumSegments": ([*_ROWS, scalar(3)], {}),
    "SparseSegmentSqrtNWithNumSegments": ([*_ROWS, scalar(3)], {}),
    "UnsortedSegmentJoin": ([texts(b"a", b"b", b"c"), ints(0, 1, 0), scalar(2)], {}),
    "UnsortedSegmentProd": ([ramp(3, 2), ints(0, 1, 0), scalar(2)], {}),
    "UnsortedSegmentMin": ([ramp(3, 2), ints(0, 1, 0), scalar(2)], {}),
    "UnsortedSegmentSum": ([ramp(3, 2), ints(0, 1, 0), scalar(2)], {}),
    "DenseBincount": ([ints(0, 1, 1), scalar(3), ramp(3)], {}),
    "Bincount": ([ints(0, 1, 1), scalar(3), ramp(3)], {}),
    "HistogramFixedWidth": ([ramp(5), np.float32([0, 1]), scalar(4)], {}),
    "OneHot": ([ints(0, 2), scalar(3), _ONE, _ZERO], {}),
    "GatherV2": ([ramp(4, 3), ints(0, 2), scalar(0)], {}),
    "Slice": ([ramp(3, 4), ints(0, 1), ints(2, 2)], {}),
    "TensorStridedSliceUpdate": (
        [ramp(4), ints(1), ints(3), ints(1), ramp(2)],
        {},
    ),
    "TensorScatterAdd": ([ramp(4), ints(0, 2, shape=(2, 1)), ramp(2)], {}),
    "TensorScatterMin": ([ramp(4), ints(0, 2, shape=(2, 1)), ramp(2)], {}),
    "ScatterNd": ([ints(0, 2, shape=(2, 1)), ramp(2), ints(4)], {}),
    # Matrices
    "MatrixSetDiagV2": ([ramp(3, 3), ramp(3), scalar(0)], {}),
    "MatrixDiagPartV2": ([ramp(3, 3), scalar(0), _ZERO], {}),
    "MatrixDiagPartV3": ([ramp(3, 3), scalar(0), _ZERO], {}),
    "MatrixBandPart": ([ramp(3, 4), scalar(1, "int64"), scalar(1, "int64")], {}),
    "TridiagonalMatMul": ([ramp(1, 3), ramp(1, 3), ramp(1, 3), ramp(3, 2)], {}),
    # Images and convolutions
    "Dilation2DBackpropFilter": (
        [_IMAGE, ramp(2, 2, 2), _IMAGE],
        _SAME | {"rates": [1, 1, 1, 1]},
    ),
    "Dilation2DBackpropInput": (
        [_IMAGE, ramp(2, 2, 2), _IMAGE],
        _SAME | {"rates": [1, 1, 1, 1]},
    ),
    "ScaleAndTranslate": ([_IMAGE, ints(2, 2), ramp(2) + 1, ramp(2)], {}),
    "ScaleAndTranslateGrad": ([ramp(1, 2, 2, 2), _IMAGE, ramp(2) + 1, ramp(2)], {}),
    "Conv2DBackpropInput": (
        [ints(1, 4, 4, 2), ramp(2, 2, 2, 3), ramp(1, 4, 4, 3)],
        _SAME,
    ),
    "Conv3DBackpropFilterV2": (
        [ramp(1, 2, 2, 2, 2), ints(1, 1, 1, 2, 3), ramp(1, 2, 2, 2, 3)],
        {"strides": [1, 1, 1, 1, 1], "padding": "SAME"},
    ),
    "DepthwiseConv2dNativeBackpropFilter": ([_IMAGE, ints(2, 2, 2, 1), _IMAGE], _SAME),
    "FusedResizeAndPadConv2D": (
        [
            _IMAGE,
            ints(4, 4),
            ints(0, 0, 1, 1, 1, 1, 0, 0, shape=(4, 2)),
            ramp(2, 2, 2, 3),
        ],
        {"mode": "REFLECT", "strides": [1, 1, 1, 1], "padding": "VALID"},
    ),
    "ImageProjectiveTransformV3": (
        [_IMAGE, np.float32([[1, 0, 0, 0, 1, 0, 0, 0]]), ints(3, 3), _ZERO],
        {"interpolation": "BILINEAR"},
    ),
    "MaxPoolV2": ([_IMAGE, ints(1, 2, 2, 1), ints(1, 2, 2, 1)], {"padding": "VALID"}),
    "MaxPoolGradV2": (
        [
            _IMAGE,
            ramp(1, 2, 2, 2),
            ramp(1, 2, 2, 2),
            ints(1, 2, 2, 1),
            ints(1, 2, 2, 1),
        ],
        {"padding": "VALID"},
    ),
    "MaxPoolGradWithArgmax": (
        [
            _IMAGE,
            ramp(1, 2, 2, 2),
            longs(10, 11, 14, 15, 26, 27, 30, 31, shape=(1, 2, 2, 2)),
        ],
        _HALVES,
    ),
    "MaxPool3DGradGrad": (
        [ramp(1, 2, 2, 2, 1), ramp(1, 1, 1, 1, 1), ramp(1, 2, 2, 2, 1)],
        _CUBES,
    ),
    "FractionalMaxPoolGrad": (
        [
            ramp(1, 4, 4, 1),
            np.float32([5, 7, 13, 15]).reshape(1, 2, 2, 1) / 16,
            ramp(1, 2, 2, 1),
            longs(0, 2, 4),
            longs(0, 2, 4),
        ],
        {},
    ),
    "NonMaxSuppression": ([_TWO_BOXES, np.float32([0.9, 0.4]), scalar(2)], {}),
    "NonMaxSuppressionV2": (
        [_TWO_BOXES, np.float32([0.9, 0.4]), scalar(2), scalar(0.5, "float32")],
        {},
    ),
    "CombinedNonMaxSuppression": (
        [
            _TWO_BOXES.reshape(1, 2, 1, 4),
            ramp(1, 2, 1),
            scalar(2),
            scalar(2),
            scalar(0.5, "float32"),
            _ZERO,
        ],
        {},
    ),
    # Networks
    "GRUBlockCell": (_GRU, {}),
    "GRUBlockCellGrad": ([*_GRU, *_STATE, *_STATE], {}),
    "LSTMBlockCell": (_LSTM, {}),
    "LSTMBlockCellGrad": ([*_LSTM, *_STATE * 4], {"use_peephole": True}),
    "BlockLSTM": (_LSTMS, {}),
    "BlockLSTMV2": (_LSTMS, {}),
    "BlockLSTMGrad": ([*_LSTMS, *[ramp(3, 2, 4)] * 9], {"use_peephole": True}),
    "FusedBatchNormV2": ([ramp(1, 2, 2, 3), *_NORM], {"is_training": False}),
    "FusedBatchNormGrad": ([ramp(1, 2, 2, 3)] * 2 + [_COLOR, _COLOR, _COLOR + 1], {}),
    "FusedBatchNormGradV3": (
        [ramp(1, 2, 2, 3)] * 2 + [_COLOR, _COLOR, _COLOR + 1, _COLOR],
        {},
    ),
    "FakeQuantWithMinMaxVarsGradient": ([ramp(3), ramp(3), _ZERO, _ONE], {}),
    "FakeQuantWithMinMaxVarsPerChannelGradient": (
        [ramp(2, 3), ramp(2, 3), _COLOR - 1, _COLOR + 1],
        {},
    ),
    "QuantizeAndDequantizeV3": ([ramp(2, 3), _ZERO, _ONE, scalar(8)], {}),
    "QuantizeAndDequantizeV4": ([ramp(2, 3), _ZERO, _ONE], {}),
    # Strings, chance
    "Substr": ([texts(b"one", b"three"), scalar(1), scalar(2)], {}),
    "RegexReplace": (
        [texts(b"one", b"two"), scalar(b"o", object), scalar(b"0", object)],
        {},
    ),
    "KmeansPlusPlusInitialization": (
        [ramp(5, 2), scalar(2, "int64"), scalar(1, "int64"), scalar(1, "int64")],
        {},
    ),
    "SobolSample": ([scalar(2), scalar(4), scalar(0)], {}),
    "StatelessRandomPoisson": ([ints(3), _SEED, ramp(3) + 1], {"dtype": "float32"}),
    "StatelessMultinomial": ([ramp(2, 3), scalar(4), _SEED], {}),
    "StatelessRandomUniformInt": ([ints(2, 3), _SEED, scalar(0), scalar(9)], {}),
    "StatelessRandomBinomial": ([ints(3), _SEED, _COLOR + 4, _COLOR / 2 + 0.25], {}),
    "StatelessRandomGammaV2": ([ints(3), _SEED, _COLOR + 1], {}),
}

SAMPLES = {
    "deepmd-kit": _DEEPMD,
    "struct2tensor": _STRUCT,
    "tensorflow-compression-ops": _COMPRESSION,
    "tensorflow-cpu": _TENSORFLOW,
    "tensorflow-io": _IO,
    "tensorflow-text": _TEXT,
}
